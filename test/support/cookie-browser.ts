import { AuthClient, localTokens, type AuthClientOptions, type SessionEnd } from 'nestjs-session-auth-client';
import { Browser } from '../client/simulated-browser';
import type { TestApplication } from './test-application';

const TIMEOUT = 10_000;

/** A page with the client. */
export interface OpenedTab {
  readonly client: AuthClient;
  readonly ends: SessionEnd[];
}

/**
 * A browser with a cookie jar that all tabs share. It uses the clock of the server, which advances while the
 * client waits.
 */
export class CookieBrowser {
  readonly jar = new Map<string, string>();
  /** Everything that reaches the page: the bodies of all responses. */
  readonly bodies: string[] = [];
  origin: string;
  private readonly browser: Browser;

  constructor({ url, clock }: TestApplication) {
    this.origin = url;
    this.browser = new Browser({
      fetch: (input, init) => this.fetch(input, init),
      clock: {
        now: () => clock.now(),
        wait: async (milliseconds, signal) => {
          if (milliseconds >= TIMEOUT) await new Promise((resolve) => signal?.addEventListener('abort', resolve));
          else clock.advance(milliseconds);
          await new Promise((resolve) => setImmediate(resolve));
        },
      },
    });
  }

  /** Returns the header `Cookie` of a request with credentials. */
  get cookies(): string {
    return [...this.jar].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** Opens a page with the client, which uses cookies. With `transport: 'bearer'`, its tabs share `localStorage`. */
  open(baseUrl: string, options: AuthClientOptions = {}): OpenedTab {
    const tab = this.browser.openTab();
    const { transport = 'cookie' } = options;
    const where = transport === 'cookie' ? { transport } : { storage: localTokens(undefined, tab.localStorage) };
    const client = new AuthClient({ baseUrl, ...where, environment: tab.environment, ...options });
    const ends: SessionEnd[] = [];
    client.onSessionEnd((end) => ends.push(end));
    return { client, ends };
  }

  /** `fetch` of a page. Uses the cookie jar if the request includes credentials. */
  async fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request = new Request(input, init);
    const headers = new Headers(request.headers);
    headers.set('Origin', this.origin);
    const hasCredentials = request.credentials === 'include';
    if (this.cookies && hasCredentials) headers.set('Cookie', this.cookies);
    const response = await fetch(new Request(request, { headers }));
    if (hasCredentials) this.store(response.headers.getSetCookie());
    this.bodies.push(await response.clone().text());
    return response;
  }

  /** Stores or removes the cookies of a response. */
  store(lines: readonly string[]): void {
    for (const line of lines) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (/max-age=0/i.test(line)) this.jar.delete(name!);
      else this.jar.set(name!, value!);
    }
  }
}
