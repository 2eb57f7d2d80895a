import type { AccountStatus } from '../adapters/user-store';
import type { OperationContext } from '../history/client';
import type { NewTokenFamily, PairExpiries } from '../tokens/tokens';
import type { CurrentSession } from './authenticate';
import type { EndSessions } from './end-sessions';
import type { OpenOutcome, OpenSession } from './open-session';
import type { RotateOutcome, RotateToken } from './rotate';
import type { EndedSession } from './session';

/** The state transitions of sessions. Each transition is atomic. */
export abstract class SessionTransitions {
  abstract open(command: OpenSession): Promise<OpenOutcome>;
  abstract rotate(command: RotateToken): Promise<RotateOutcome>;
  /**
   * Issues a new token pair to a session whose user has proven their identity by these methods. Returns the
   * expiry times of the pair, or null if the access token was replaced or the session has ended.
   */
  abstract reissue(
    session: CurrentSession,
    issued: NewTokenFamily,
    methods: readonly string[],
    context: OperationContext,
  ): Promise<PairExpiries | null>;
  /** Ends the selected sessions. Returns the sessions that this call ended. */
  abstract end(command: EndSessions): Promise<readonly EndedSession[]>;
  /**
   * Ends the user's sessions and revokes the user's tickets and reset tokens if the account is not active. Reads the
   * account again if statements can read it and the user has an active session. Otherwise relies on `account`.
   */
  abstract endForInactiveAccount(
    userId: string,
    account: AccountStatus | null,
    context: OperationContext,
  ): Promise<readonly EndedSession[]>;
  /** Stores which of the user's sessions have expired. Returns the sessions whose expiry this call stored. */
  abstract expire(userId: string, now: number): Promise<readonly EndedSession[]>;
}
