import type { ContenderName, ContenderSetup, Headers } from '../contenders/contender';

/** The setup of an application process. */
export interface ApplicationSpec extends ContenderSetup {
  /** `packed` is the library with the settings of `npm run bench -- compare`. */
  readonly contender: ContenderName | 'packed';
}

export interface Listening {
  readonly port: number;
  readonly headers: readonly Headers[];
}
