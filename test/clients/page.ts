import type { AuthClient, SessionEnd } from 'nestjs-session-auth-client';
import { blocksUnder, type CodeBlock } from '../docs/code-blocks';
import { runBlock } from '../docs/run-block';
import type { Stage } from '../e2e/stories';
import { CookieBrowser } from '../support/cookie-browser';

export const TRANSPORTS = ['bearer', 'cookie'] as const;
export type TransportName = (typeof TRANSPORTS)[number];

/** The address of the API in the guide of the client. */
const BASE_URL = 'https://api.example.com';

/** The options of a server with both transports, over http. */
export const BOTH_TRANSPORTS = { cookies: { mode: 'optional', secure: false } } as const;

/** A page with the client, and the modules of the guide around it. */
export class Page {
  readonly browser: CookieBrowser;
  readonly client: AuthClient;
  readonly ends: SessionEnd[];

  constructor(
    private readonly at: Stage,
    readonly transport: TransportName,
  ) {
    this.browser = new CookieBrowser(at.host);
    const { client, ends } = this.browser.open(at.host.url, { transport });
    this.client = client;
    this.ends = ends;
  }

  /** Runs what the guide says about a library, for the transport of this page. */
  load<T>(
    heading: string,
    modules: Readonly<Record<string, unknown>> = {},
    replaced: Readonly<Record<string, string>> = {},
  ): T {
    return runBlock<T>(blockFor(heading, this.transport), {
      modules: { './client.js': { client: this.client }, ...modules },
      replaced: { [BASE_URL]: this.at.host.url, ...replaced },
    });
  }

  /** How many refreshes the database has recorded. */
  async refreshes(): Promise<number> {
    const rows: object[] = await this.at.host.dataSource.query(
      "SELECT id FROM auth_events WHERE event = 'token_refresh'",
    );
    return rows.length;
  }
}

/** The block of the guide about a library: one for each transport, or the first one for both. */
export function blockFor(heading: string, transport: TransportName): CodeBlock {
  const blocks = blocksUnder('docs/client.md', heading);
  const isForBoth = !blocks.some(({ code }) => code.includes('withCredentials: true'));
  return blocks.find(({ code }) => isForBoth || code.includes('withCredentials: true') === (transport === 'cookie'))!;
}
