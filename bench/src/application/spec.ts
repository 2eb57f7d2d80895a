import type { ContenderName, ContenderSetup, Headers } from '../contenders/contender';

/** The setup of an application process. */
export interface ApplicationSpec extends ContenderSetup {
  /** `packed` is the library with the settings of `npm run bench -- compare`. */
  readonly contender: ContenderName | 'packed';
}

/** A message from an application process to its parent. */
export type ApplicationMessage = Listening | Memory;

export interface Listening {
  readonly port: number;
  readonly headers: readonly Headers[];
}

/** The memory of the process, in bytes. With `--expose-gc`, a garbage collection precedes the reading. */
export interface Memory {
  readonly rss: number;
  readonly heapUsed: number;
}
