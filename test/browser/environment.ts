import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { AuthService } from 'nestjs-session-auth';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { DataSource } from 'typeorm';
import { AppModule, dataSourceOptions } from '../../apps/sample/src/app.module';
import { allowFrontEnds } from '../../apps/sample/src/front-ends';
import { prepareDatabase } from '../../apps/sample/src/prepare-database';
import { readSettings } from '../../apps/sample/src/read-settings';
import { Clock } from '../../libs/auth/src/base/clock';
import { createDatabase, type TestDatabase } from '../support/databases';
import { DrivenClock } from '../support/driven-clock';
import { launch } from './chromium';
import { clientModules, createCertificate } from './generated-files';
import { freePort } from '../support/port';
import { Traffic } from './traffic';

export const PASSWORD = 'secret';

/** A user name that runs a script if a page inserts it as HTML. */
export const MARKUP = '<img src=x onerror=alert(1)>';

const DESK = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

export type Transport = 'cookie' | 'bearer';

export interface BrowserEnvironmentOptions {
  readonly transport?: Transport;
  /**
   * Serves page and API on `app.example.localhost` and `api.example.localhost`, which are one site. Default:
   * both on 127.0.0.1.
   */
  readonly scheme?: 'http' | 'https';
}

/** The sample application and a browser. Tests set the application's clock. */
export class BrowserEnvironment {
  readonly clock = new DrivenClock(Date.now());
  /** Errors in the pages, except failed HTTP requests. */
  readonly errors: string[] = [];
  readonly traffic = new Traffic();
  /** The origins of the page (`url`) and of the API (`api`). */
  url = '';
  api = '';
  private app!: NestExpressApplication;
  private stopping: Promise<void> | undefined;
  private readonly contexts: BrowserContext[] = [];

  private constructor(
    readonly browser: Browser,
    private readonly database: TestDatabase,
    private readonly options: BrowserEnvironmentOptions,
    private readonly auth: object,
    private readonly port: number,
  ) {}

  static async start(auth: object = {}, options: BrowserEnvironmentOptions = {}): Promise<BrowserEnvironment> {
    process.env['CLIENT_MODULES'] = clientModules();
    const database = await createDatabase('sqlite');
    const environment = new BrowserEnvironment(await launch(), database, options, auth, await freePort());
    await environment.startApplication();
    for (const username of ['alice', 'bob', MARKUP]) {
      await environment.app.get(AuthService).createUser({ username, password: PASSWORD }, { skipPolicy: true });
    }
    return environment;
  }

  /** Opens a window with its own cookies and storage, as a private window or another browser has. */
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
    // The timeout is long because other tests may be using the processors.
    context.setDefaultTimeout(30_000);
    context.on('weberror', (error) => this.errors.push(String(error.error())));
    context.on('console', (message) => {
      const isAnswer = /^Failed to load resource/.test(message.text());
      if (message.type() === 'error' && !isAnswer) this.errors.push(message.text());
    });
    this.contexts.push(context);
    return context;
  }

  async signIn(username = 'alice', options: BrowserContextOptions = {}): Promise<Page> {
    const page = await (await this.openWindow(options)).newPage();
    await page.goto('/');
    await signInAt(page, username);
    return page;
  }

  async recorded(event: string): Promise<number> {
    const rows: object[] = await this.app.get(DataSource).query(`SELECT id FROM auth_events WHERE event = '${event}'`);
    return rows.length;
  }

  dropConnections(): void {
    this.app.getHttpServer().closeAllConnections();
  }

  /** Closes the windows, deletes the sessions, and sets the application's clock to that of the browser. */
  async reset(): Promise<void> {
    for (const context of this.contexts.splice(0)) await context.close();
    for (const table of ['auth_sessions', 'auth_events', 'security_alerts']) {
      await this.app.get(DataSource).query(`DELETE FROM ${table}`);
    }
    this.errors.length = 0;
    this.traffic.exchanges.length = 0;
    this.clock.advance(Date.now() - this.clock.now());
  }

  /** Stops the application. Pages may still be open. */
  stopApplication(): Promise<void> {
    return (this.stopping ??= this.app.close());
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.stopApplication();
    await this.database.drop();
  }

  private async startApplication(): Promise<void> {
    const { auth, port } = this;
    const { scheme } = this.options;
    this.url = scheme ? `${scheme}://app.example.localhost:${port}` : `http://127.0.0.1:${port}`;
    this.api = scheme ? `${scheme}://api.example.localhost:${port}` : this.url;
    const cookies = { secure: scheme === 'https', trustedOrigins: scheme ? [this.url] : [] };
    const settings = readSettings({
      DATABASE_URL: `sqlite:${String(this.database.options.database)}`,
      AUTH_OPTIONS: JSON.stringify({ bcryptCost: 4, cookies, ...auth }),
      API_ORIGIN: scheme && this.api,
    });
    const dataSource = await prepareDatabase(dataSourceOptions(settings));
    const module = await Test.createTestingModule({ imports: [AppModule.with(settings, dataSource)] })
      .overrideProvider(Clock)
      .useValue(this.clock)
      .compile();
    this.app = module.createNestApplication<NestExpressApplication>({
      logger: ['error'],
      ...(scheme === 'https' ? { httpsOptions: createCertificate() } : {}),
    });
    this.app.use(this.traffic.pass.bind(this.traffic));
    allowFrontEnds(this.app);
    await this.app.listen(port, '127.0.0.1');
  }
}

export async function signInAt(page: Page, username = 'alice', password = PASSWORD): Promise<void> {
  await page.getByLabel('Name', { exact: true }).fill(username);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Up to date').waitFor();
}

/**
 * Sends a request with the page's own client. Returns the status of the response, or the error code if no
 * request was sent. Bypasses the browser's cache, in which tabs that request the same URL wait for each other.
 */
export function requestStatus(page: Page): Promise<number | string> {
  return page.evaluate(`import('/page/session.js')
    .then(({ client }) => client.fetch('/me', { cache: 'no-store' }))
    .then(({ status }) => status, ({ code, message }) => code ?? message)`);
}

/** Waits until the page lists exactly these devices, in this order. */
export async function expectDevices(page: Page, ...titles: string[]): Promise<void> {
  const shown = "JSON.stringify([...document.querySelectorAll('#devices h2')].map(({ innerText }) => innerText))";
  await page.waitForFunction(`${shown} === ${JSON.stringify(JSON.stringify(titles))}`).catch(() => undefined);
  expect(await page.locator('#devices h2').allInnerTexts()).toEqual(titles);
}

export function waitForFocus(page: Page, id: string): Promise<void> {
  return page.locator(`#${id}:focus`).waitFor({ state: 'attached' });
}
