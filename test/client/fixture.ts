import {
  AuthClient,
  localTokens,
  memoryTokens,
  sessionTokens,
  type AuthClientOptions,
  type ClientEventName,
} from 'nestjs-session-auth-client';
import { Browser, type BrowserTraits, type Tab } from './simulated-browser';
import { FakeServer } from './fake-server';
import { DrivenTime } from './time';

export const BASE = 'https://app.example.com';
const NAMES: readonly ClientEventName[] = ['refreshed', 'signedOut', 'signedOutElsewhere', 'signInNeeded'];

/** A client in a tab, and the events that it has emitted. */
export interface OpenedTab {
  readonly tab: Tab;
  readonly client: AuthClient;
  readonly emitted: ClientEventName[];
}

/** A simulated browser and server, which share a simulated clock. */
export class Fixture {
  readonly time = new DrivenTime();
  readonly server: FakeServer;
  readonly browser: Browser;

  constructor(
    readonly graceSeconds = 0,
    traits: Partial<BrowserTraits> = {},
    readonly kind: 'local' | 'session' | 'memory' | 'cookie' = 'local',
    readonly options: AuthClientOptions = {},
  ) {
    this.server = new FakeServer(this.time, graceSeconds * 1_000);
    const after: BrowserTraits['after'] = (milliseconds, run) => this.time.after(milliseconds, run);
    this.browser = new Browser({ fetch: this.server.fetch, clock: this.time, after, ...traits });
  }

  open(tab = this.browser.openTab(), options: AuthClientOptions = {}): OpenedTab {
    const storages = {
      local: () => localTokens(undefined, tab.localStorage),
      session: () => sessionTokens(undefined, tab.sessionStorage),
      memory: () => memoryTokens(),
    };
    const where = this.kind === 'cookie' ? { transport: this.kind } : { storage: storages[this.kind]() };
    const client = new AuthClient({
      baseUrl: BASE,
      ...where,
      refreshReuseGraceSeconds: this.graceSeconds,
      environment: tab.environment,
      ...this.options,
      ...options,
    });
    const emitted: ClientEventName[] = [];
    for (const name of NAMES) client.on(name, () => emitted.push(name));
    return { tab, client, emitted };
  }

  /** Opens tabs and signs a user in in the first one. */
  async openTabs(count: number, options?: AuthClientOptions): Promise<OpenedTab[]> {
    const tabs = Array.from({ length: count }, () => this.open(undefined, options));
    await this.time.until(tabs[0]!.client.login('alice', 'secret'));
    await this.time.run(1_000);
    return tabs;
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
}
