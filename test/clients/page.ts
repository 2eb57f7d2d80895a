import type { AuthClient, SessionEnd } from 'nestjs-session-auth-client';
import { blocksUnder, type CodeBlock } from '../docs/code-blocks';
import { runBlock } from '../docs/run-block';
import type { TestEnvironment } from '../support/environment';
import { CookieBrowser } from '../support/cookie-browser';

export const TRANSPORTS = ['bearer', 'cookie'] as const;
export type TransportName = (typeof TRANSPORTS)[number];

/** The base URL of the API in the guide of the client. */
const BASE_URL = 'https://api.example.com';

/** The options of a server with both transports, over HTTP. */
export const BOTH_TRANSPORTS = { cookies: { mode: 'optional', secure: false } } as const;

/** A page with the client and the modules of its guide. */
export class Page {
  readonly browser: CookieBrowser;
  readonly client: AuthClient;
  readonly ends: SessionEnd[];

  constructor(
    private readonly env: TestEnvironment,
    readonly transport: TransportName,
  ) {
    this.browser = new CookieBrowser(env.app);
    const { client, ends } = this.browser.open(env.app.url, { transport });
    this.client = client;
    this.ends = ends;
  }

  /** Runs the guide's code block about a library, for the transport of this page. */
  load<T>(
    heading: string,
    modules: Readonly<Record<string, unknown>> = {},
    replaced: Readonly<Record<string, string>> = {},
  ): T {
    return runBlock<T>(blockFor(heading, this.transport), {
      modules: { './client.js': { client: this.client }, ...modules },
      replaced: { [BASE_URL]: this.env.app.url, ...replaced },
    });
  }

  /** Returns the number of recorded refreshes. */
  async refreshes(): Promise<number> {
    const rows: object[] = await this.env.app.dataSource.query(
      "SELECT id FROM auth_events WHERE event = 'token_refresh'",
    );
    return rows.length;
  }
}

/**
 * Returns the guide's code block about a library: the block for this transport, or the first block if the
 * transports share one block.
 */
export function blockFor(heading: string, transport: TransportName): CodeBlock {
  const blocks = blocksUnder('docs/client-libraries.md', heading);
  const isForBoth = !blocks.some(({ code }) => code.includes('withCredentials: true'));
  return blocks.find(({ code }) => isForBoth || code.includes('withCredentials: true') === (transport === 'cookie'))!;
}
