import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import type { NextFunction, Request, Response } from 'express';
import { AuthService, OpenSockets } from 'nestjs-session-auth';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { DataSource } from 'typeorm';
import { AppModule, dataSourceOptions } from '../../apps/sample/src/app.module';
import { prepareDatabase } from '../../apps/sample/src/prepare-database';
import { readSettings } from '../../apps/sample/src/read-settings';
import { Clock } from '../../libs/auth/src/domain/ports/platform';
import { createDatabase, type TestDatabase } from '../support/databases';
import { DrivenClock } from '../support/driven-clock';
import { launch } from './chromium';

export const PASSWORD = 'secret';

/** Names that would do something if anybody took them for markup. */
export const MARKUP = '<img src=x onerror=alert(1)>';

const DESK = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

/** Where a refresh is held: before the server has seen it, or when its answer is ready. */
type Hold = 'request' | 'answer';

/** The sample host and a browser; the host's time is driven. */
export class Stage {
  readonly clock = new DrivenClock(Date.now());
  /** What went wrong in the pages, but for answers that are not 2xx. */
  readonly errors: string[] = [];
  url = '';
  private hold: { readonly where: Hold; readonly gate: Promise<void>; readonly reached: () => void } | null = null;
  private waiting: { readonly count: number; readonly next: NextFunction[] } | null = null;
  private stopping: Promise<void> | undefined;
  private readonly contexts: BrowserContext[] = [];

  private constructor(
    readonly browser: Browser,
    private readonly database: TestDatabase,
    private readonly client: string,
    private app: NestExpressApplication,
  ) {}

  static async start(auth: object = {}): Promise<Stage> {
    const client = mkdtempSync(join(tmpdir(), 'nsa-client-'));
    execFileSync(process.execPath, [join(__dirname, '../../scripts/build-client.mjs'), client]);
    process.env['CLIENT_MODULES'] = join(client, 'esm');
    const database = await createDatabase('sqlite');
    const stage = new Stage(await launch(), database, client, undefined as never);
    await stage.startHost(auth);
    return stage;
  }

  /** Another window: with cookies and storage of its own, as a private one or another browser has. */
  async openWindow(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    const context = await this.browser.newContext({ baseURL: this.url, userAgent: DESK, ...options });
    // Other tests may have the processors.
    context.setDefaultTimeout(30_000);
    context.on('weberror', (error) => this.errors.push(String(error.error())));
    context.on('console', (message) => {
      const isAnswer = /^Failed to load resource/.test(message.text());
      if (message.type() === 'error' && !isAnswer) this.errors.push(message.text());
    });
    this.contexts.push(context);
    return context;
  }

  /** A window with one tab, in which somebody has signed in. */
  async signIn(username = 'alice', options: BrowserContextOptions = {}, password = PASSWORD): Promise<Page> {
    const page = await (await this.openWindow(options)).newPage();
    await page.goto('/');
    await signInAt(page, username, password);
    return page;
  }

  /** How many events of a kind the database holds. */
  async recorded(event: string): Promise<number> {
    const rows: object[] = await this.app.get(DataSource).query(`SELECT id FROM auth_events WHERE event = '${event}'`);
    return rows.length;
  }

  /** Holds the next refresh until it is let go; `reached` resolves when it is there. */
  holdRefresh(where: Hold): { readonly reached: Promise<void>; readonly letGo: () => void } {
    let letGo!: () => void;
    const gate = new Promise<void>((resolve) => (letGo = resolve));
    const reached = new Promise<void>((resolve) => (this.hold = { where, gate, reached: resolve }));
    return { reached, letGo };
  }

  /** Has so many requests for `/me` answered at the same moment: when the last of them is there. */
  answerTogether(count: number): void {
    this.waiting = { count, next: [] };
  }

  /** Another system disables a user, or enables them again, and the host looks whose sessions live; of how many it closed the streams. */
  async setActive(username: string, isActive: boolean): Promise<number> {
    const value = isActive ? 1 : 0;
    await this.app.get(DataSource).query(`UPDATE users SET active = ${value} WHERE username = '${username}'`);
    return this.app.get(OpenSockets).check();
  }

  /** The network drops whatever is open. */
  dropConnections(): void {
    this.app.getHttpServer().closeAllConnections();
  }

  /** Closes the windows, forgets the sessions, and sets the host's clock by that of the browser. */
  async reset(): Promise<void> {
    for (const context of this.contexts.splice(0)) await context.close();
    for (const table of ['auth_sessions', 'auth_events', 'security_alerts']) {
      await this.app.get(DataSource).query(`DELETE FROM ${table}`);
    }
    this.errors.length = 0;
    this.clock.advance(Date.now() - this.clock.now());
  }

  /** Stops the host, with pages open or not. */
  stopHost(): Promise<void> {
    return (this.stopping ??= this.app.close());
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.stopHost();
    await this.database.drop();
    rmSync(this.client, { recursive: true, force: true });
  }

  private async startHost(auth: object): Promise<void> {
    const settings = readSettings({
      DATABASE_URL: `sqlite:${String(this.database.options.database)}`,
      AUTH_OPTIONS: JSON.stringify({ bcryptCost: 4, ...auth }),
    });
    const dataSource = await prepareDatabase(dataSourceOptions(settings));
    const module = await Test.createTestingModule({ imports: [AppModule.with(settings, dataSource)] })
      .overrideProvider(Clock)
      .useValue(this.clock)
      .compile();
    this.app = module.createNestApplication<NestExpressApplication>({ logger: ['error'] });
    this.app.use((request: Request, response: Response, next: NextFunction) => this.pass(request, response, next));
    await this.app.listen(0, '127.0.0.1');
    this.url = `http://127.0.0.1:${(this.app.getHttpServer().address() as { port: number }).port}`;
    for (const username of ['alice', 'bob', MARKUP]) {
      await this.app.get(AuthService).createUser({ username, password: PASSWORD }, { skipPolicy: true });
    }
  }

  private pass({ path }: Request, response: Response, next: NextFunction): void {
    const { hold, waiting } = this;
    if (waiting && path === '/me') {
      if (waiting.next.push(next) < waiting.count) return;
      this.waiting = null;
      for (const go of waiting.next) go();
      return;
    }
    if (!hold || !path.includes('/refresh')) return next();
    this.hold = null;
    if (hold.where === 'request') {
      hold.reached();
      void hold.gate.then(next);
      return;
    }
    const end = response.end.bind(response) as (...parts: unknown[]) => Response;
    response.end = ((...parts: unknown[]) => {
      hold.reached();
      void hold.gate.then(() => end(...parts));
      return response;
    }) as typeof response.end;
    next();
  }
}

export async function signInAt(page: Page, username = 'alice', password = PASSWORD): Promise<void> {
  await page.getByLabel('Name').fill(username);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Up to date').waitFor();
}

/**
 * What a request of the page's own client comes to: a status, or why none was sent. The cache of the browser would have tabs that ask
 * for the same wait for each other.
 */
export function askWith(page: Page): Promise<number | string> {
  return page.evaluate(`import('/page/session.js')
    .then(({ client }) => client.fetch('/me', { cache: 'no-store' }))
    .then(({ status }) => status, ({ code, message }) => code ?? message)`);
}

/** Waits until a page lists these devices, in this order. */
export async function seeDevices(page: Page, ...titles: string[]): Promise<void> {
  const shown = "JSON.stringify([...document.querySelectorAll('#devices h2')].map(({ innerText }) => innerText))";
  await page.waitForFunction(`${shown} === ${JSON.stringify(JSON.stringify(titles))}`).catch(() => undefined);
  expect(await page.locator('#devices h2').allInnerTexts()).toEqual(titles);
}

/** Waits until an element of a page has the focus. */
export function seeFocus(page: Page, id: string): Promise<void> {
  return page.locator(`#${id}:focus`).waitFor({ state: 'attached' });
}
