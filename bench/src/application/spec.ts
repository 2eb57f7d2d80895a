import type { ContenderName, ContenderSetup, Headers } from '../contenders/contender';

/** What an application process is started with. */
export interface ApplicationSpec extends ContenderSetup {
  readonly contender: ContenderName;
}

/** What an application process sends to its parent. */
export type ApplicationMessage = Listening | Memory;

export interface Listening {
  readonly port: number;
  readonly headers: readonly Headers[];
}

/** In bytes; after a garbage collection if the process was started with `--expose-gc`. */
export interface Memory {
  readonly rss: number;
  readonly heapUsed: number;
}
