import type { NestExpressApplication } from '@nestjs/platform-express';
import { WsAdapter } from '@nestjs/platform-ws';
import { Test } from '@nestjs/testing';
import { AuthService, OpenSockets } from 'nestjs-session-auth';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { DataSource } from 'typeorm';
import { AppModule, dataSourceOptions } from '../../apps/sample/src/app.module';
import { allowFrontEnds } from '../../apps/sample/src/front-ends';
import { prepareDatabase } from '../../apps/sample/src/prepare-database';
import { readSettings } from '../../apps/sample/src/read-settings';
import { Clock } from '../../libs/auth/src/domain/ports/platform';
import { createDatabase, type TestDatabase } from '../support/databases';
import { DrivenClock } from '../support/driven-clock';
import { createCertificate } from './certificate';
import { launch } from './chromium';
import { clientModules } from './client-modules';
import { freePort } from './free-port';
import { SocketGateway } from './socket.gateway';
import { Traffic } from './traffic';

export const PASSWORD = 'secret';

/** Names that would do something if anybody took them for markup. */
export const MARKUP = '<img src=x onerror=alert(1)>';

const DESK = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

export type Transport = 'cookie' | 'bearer';

export interface StageOptions {
  /** How the browsers keep their tokens. Default: bearer. */
  readonly transport?: Transport;
  /** Page and API on `app.example.localhost` and `api.example.localhost`, one site. Default: both on 127.0.0.1. */
  readonly scheme?: 'http' | 'https';
}

/** The sample host and a browser; the host's time is driven. */
export class Stage {
  readonly clock = new DrivenClock(Date.now());
  /** What went wrong in the pages, but for answers that are not 2xx. */
  readonly errors: string[] = [];
  readonly traffic = new Traffic();
  /** The origin of the page, and that of the API. */
  url = '';
  api = '';
  private stopping: Promise<void> | undefined;
  private readonly contexts: BrowserContext[] = [];

  private constructor(
    readonly browser: Browser,
    private readonly database: TestDatabase,
    private readonly options: StageOptions,
    private app: NestExpressApplication,
  ) {}

  static async start(auth: object = {}, options: StageOptions = {}): Promise<Stage> {
    process.env['CLIENT_MODULES'] = clientModules();
    const database = await createDatabase('sqlite');
    const stage = new Stage(await launch(), database, options, undefined as never);
    await stage.startHost(auth);
    return stage;
  }

  /** Another window: with cookies and storage of its own, as a private one or another browser has. */
  async openWindow(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    const { transport = 'bearer' } = this.options;
    const localStorage = [{ name: 'sample-transport', value: transport }];
    const context = await this.browser.newContext({
      baseURL: this.url,
      userAgent: DESK,
      ignoreHTTPSErrors: true,
      storageState: { cookies: [], origins: [{ origin: this.url, localStorage }] },
      ...options,
    });
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
    this.traffic.exchanges.length = 0;
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
  }

  private async startHost(auth: object): Promise<void> {
    const { scheme } = this.options;
    const port = await freePort();
    this.url = scheme ? `${scheme}://app.example.localhost:${port}` : `http://127.0.0.1:${port}`;
    this.api = scheme ? `${scheme}://api.example.localhost:${port}` : this.url;
    const cookies = { secure: scheme === 'https', trustedOrigins: scheme ? [this.url] : [] };
    const settings = readSettings({
      DATABASE_URL: `sqlite:${String(this.database.options.database)}`,
      AUTH_OPTIONS: JSON.stringify({ bcryptCost: 4, cookies, ...auth }),
      API_ORIGIN: scheme && this.api,
    });
    const dataSource = await prepareDatabase(dataSourceOptions(settings));
    const module = await Test.createTestingModule({
      imports: [AppModule.with(settings, dataSource)],
      providers: [SocketGateway],
    })
      .overrideProvider(Clock)
      .useValue(this.clock)
      .compile();
    this.app = module.createNestApplication<NestExpressApplication>({
      logger: ['error'],
      ...(scheme === 'https' ? { httpsOptions: createCertificate() } : {}),
    });
    this.app.useWebSocketAdapter(new WsAdapter(this.app));
    this.app.use(this.traffic.pass.bind(this.traffic));
    allowFrontEnds(this.app);
    await this.app.listen(port, '127.0.0.1');
    for (const username of ['alice', 'bob', MARKUP]) {
      await this.app.get(AuthService).createUser({ username, password: PASSWORD }, { skipPolicy: true });
    }
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
