import {
  AuthClient,
  localTokens,
  memoryTokens,
  sessionTokens,
  type AuthClientOptions,
  type ClientEnvironment,
  type ClientEventName,
} from 'nestjs-session-auth-client';
import { Browser, type BrowserTraits, type Tab } from './simulated-browser';
import { FakeServer, type Delivery } from './fake-server';
import { DrivenTime } from './time';

export const BASE = 'https://app.example.com';
// Without Web Locks, the client warns.
beforeAll(() => void jest.spyOn(console, 'warn').mockImplementation());

export const TTL = 900_000;
const NAMES: readonly ClientEventName[] = ['refreshed', 'signedOut', 'signedOutElsewhere', 'signInNeeded'];

export interface OpenedTab {
  readonly tab: Tab;
  readonly client: AuthClient;
  readonly emitted: ClientEventName[];
}

/** Where the clients keep the session: tokens in one of the storages, or cookies. */
export type Kind = 'local' | 'session' | 'memory' | 'cookie';

export interface Setup {
  /** The grace period of the server and the clients in seconds. Default: 0, or 10 with cookies. */
  readonly grace?: number;
  readonly traits?: Partial<BrowserTraits>;
  /** Default: local. */
  readonly kind?: Kind;
  readonly options?: AuthClientOptions;
  readonly tabs?: number;
}

/** A simulated browser and server, which share a simulated clock. */
export class Fixture {
  readonly time = new DrivenTime();
  readonly server: FakeServer;
  readonly browser: Browser;
  private readonly options: AuthClientOptions;
  private readonly kind: Kind;

  constructor({ kind = 'local', grace = kind === 'cookie' ? 10 : 0, traits = {}, options = {} }: Setup = {}) {
    this.kind = kind;
    this.options = { baseUrl: BASE, refreshReuseGraceSeconds: grace, ...options };
    this.server = new FakeServer(this.time, grace * 1_000, TTL);
    this.browser = new Browser({ fetch: this.server.fetch, clock: this.time, after: this.time.after, ...traits });
  }

  open(tab = this.browser.openTab(), options: AuthClientOptions = {}): OpenedTab {
    const storages = {
      local: () => ({ storage: localTokens(undefined, tab.localStorage) }),
      session: () => ({ storage: sessionTokens(undefined, tab.sessionStorage) }),
      memory: () => ({ storage: memoryTokens() }),
      cookie: () => ({ transport: 'cookie' as const }),
    };
    const where = storages[this.kind]();
    const client = new AuthClient({ ...where, environment: tab.environment, ...this.options, ...options });
    const emitted: ClientEventName[] = [];
    for (const name of NAMES) client.on(name, () => emitted.push(name));
    return { tab, client, emitted };
  }

  /** Opens a client in a tab whose environment has the given changes. */
  openIn(changes: Partial<ClientEnvironment>, options: AuthClientOptions = {}): OpenedTab {
    const tab = this.browser.openTab();
    return this.open(tab, { environment: { ...tab.environment, ...changes }, ...options });
  }

  /** Opens a client whose requests to a path are answered as given, or by the server if the function returns null. */
  openWith(path: string, answer: () => Response | null): OpenedTab {
    const fetch = async (input: string | Request): Promise<Response> =>
      ((input as Request).url.endsWith(path) && answer()) || this.server.fetch(input);
    return this.openIn({ fetch });
  }

  /** Returns the status of a guarded request, or the code of the error. */
  async request({ client }: OpenedTab): Promise<number | string> {
    return client.fetch('/me').then(
      ({ status }) => status,
      (error: { code?: string; message: string }) => error.code ?? error.message,
    );
  }

  requestInAll(tabs: readonly OpenedTab[]): Promise<(number | string)[]> {
    return this.time.until(Promise.all(tabs.map((one) => this.request(one))));
  }

  login({ client }: OpenedTab, username = 'alice'): Promise<{ readonly sessionId: string }> {
    return this.time.until(client.login(username, 'secret'));
  }

  async userOf({ client }: OpenedTab): Promise<string> {
    const answer = await this.time.until(client.fetch('/me'));
    return ((await answer.json()) as { username: string }).username;
  }

  rejection(promise: Promise<unknown>): Promise<unknown> {
    const rejected = promise.then(
      () => 'not rejected',
      (error: unknown) => error,
    );
    return this.time.until(rejected);
  }

  async closeDuringRequest(one: OpenedTab, afterMs: number): Promise<void> {
    this.request(one).catch(() => undefined);
    await this.time.run(afterMs);
    one.tab.close();
  }

  deliverNext(delivery: Delivery): void {
    this.server.delivery = () => {
      this.server.delivery = () => ({});
      return delivery;
    };
  }
}

/** Opens tabs, and signs alice in in the first one. */
export async function signedIn(
  setup: Setup = {},
): Promise<{ fixture: Fixture; server: FakeServer; tabs: OpenedTab[]; one: OpenedTab }> {
  const fixture = new Fixture(setup);
  const tabs = Array.from({ length: setup.tabs ?? 1 }, () => fixture.open());
  await fixture.login(tabs[0]!);
  await fixture.time.run(1_000);
  return { fixture, server: fixture.server, tabs, one: tabs[0]! };
}

/** Opens tabs, signs alice in in the first one, and lets her access token expire. */
export async function withExpiredToken(setup: Setup = {}): ReturnType<typeof signedIn> {
  const signed = await signedIn(setup);
  await signed.fixture.time.run(TTL);
  return signed;
}
