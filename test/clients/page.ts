import type { AuthClient, SessionEnd } from 'nestjs-session-auth-client';
import { blocksUnder, type CodeBlock } from '../docs/code-blocks';
import { runBlock } from '../docs/run-block';
import type { TestEnvironment } from '../support/environment';
import { CookieBrowser } from '../support/cookie-browser';

export const TRANSPORTS = ['bearer', 'cookie'] as const;

export const BOTH_TRANSPORTS = { cookies: { mode: 'optional', secure: false } } as const;

/** A page with the client and the modules of its guide. */
export class Page {
  readonly browser: CookieBrowser;
  readonly client: AuthClient;
  readonly ends: SessionEnd[];

  constructor(
    private readonly env: TestEnvironment,
    private readonly transport: (typeof TRANSPORTS)[number],
  ) {
    this.browser = new CookieBrowser(env.app);
    ({ client: this.client, ends: this.ends } = this.browser.open(env.app.url, { transport }));
  }

  /** Runs the guide's code block about a library, for the transport of this page if each transport has a block. */
  load<T>(heading: string, modules: object = {}, replaced: Readonly<Record<string, string>> = {}): T {
    const isForCookies = ({ code }: CodeBlock): boolean => code.includes('withCredentials: true');
    const blocks = blocksUnder('docs/client-libraries.md', heading);
    const own = blocks.filter((block) => isForCookies(block) === (this.transport === 'cookie'));
    return runBlock<T>((blocks.some(isForCookies) ? own : blocks)[0]!, {
      modules: { './client.js': { client: this.client }, ...modules },
      // The base URL of the API in the guide.
      replaced: { 'https://api.example.com': this.env.app.url, ...replaced },
    });
  }

  async refreshes(): Promise<number> {
    const sql = "SELECT id FROM auth_events WHERE event = 'token_refresh'";
    return (await this.env.app.dataSource.query<object[]>(sql)).length;
  }
}
