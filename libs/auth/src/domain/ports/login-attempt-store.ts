import type { NewAuthEvent } from '../auth-event';
import type { Admission, RunLimits } from '../login-run';

/** Under what an attempt is counted: digests, in which neither name nor network can be read. */
export interface AttemptKeys {
  /** Of the name and the network that it comes from. */
  readonly network: string;
  /** Of the name alone. */
  readonly name: string;
}

export interface FailedAttempt extends AttemptKeys {
  readonly now: number;
  readonly limits: RunLimits;
  /** Whether a user has the name. */
  readonly isKnown: boolean;
  /** The event, given the count that it tells. */
  readonly event: (failureCount: number) => NewAuthEvent;
}

/** The count of failed logins, shared by all instances. Each call is one atomic unit. */
export abstract class LoginAttemptStore {
  /** Takes a place for one attempt, if there is one. It is given back by whichever of the others follows, or a login. */
  abstract admit(keys: AttemptKeys, now: number, limits: RunLimits): Promise<Admission>;
  /** Counts a failure and logs it; how many there are in a row from this network. */
  abstract fail(attempt: FailedAttempt): Promise<number>;
  /** Gives the place back of an attempt that came to nothing. */
  abstract release(keys: AttemptKeys): Promise<void>;
  /** The password was right: the failures in a row are over, from this network and for the name. */
  abstract succeed(keys: AttemptKeys): Promise<void>;
  /** Forgets all failures for a name, from wherever they came. */
  abstract reset(nameKey: string): Promise<void>;
}
