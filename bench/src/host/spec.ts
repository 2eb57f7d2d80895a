import type { Circumstances, ContenderName, Headers } from '../contenders/contender';

/** What a host is started with. */
export interface HostSpec extends Circumstances {
  readonly contender: ContenderName;
}

/** What a host tells: that it listens, or how much memory it holds. */
export type HostReport = Listening | Memory;

export interface Listening {
  readonly port: number;
  readonly headers: readonly Headers[];
}

/** In bytes, after a garbage collection where the host was started so that it can. */
export interface Memory {
  readonly rss: number;
  readonly heapUsed: number;
}
