import type { EndedSession } from '../session';
import type { Circumstances } from './session-store';
import type { UserId } from './user-store';

/** What is done with all that the library holds of a user. */
export abstract class AccountStore {
  /** Whether users can be enabled and disabled here. */
  abstract readonly canSetActive: boolean;
  /** Disables a user and ends all sessions, as one unit where the users are in the same DataSource; null for no such user. */
  abstract disable(userId: UserId, at: Circumstances): Promise<readonly EndedSession[] | null>;
  abstract enable(userId: UserId): Promise<boolean>;
  /** Removes sessions, tokens and events of a user; the sessions that were active. */
  abstract forget(userId: string, at: Circumstances): Promise<readonly EndedSession[]>;
}
