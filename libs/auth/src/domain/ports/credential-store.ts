import type { EndedSession, SessionRecord } from '../session';
import type { Circumstances, IssuedPair } from './session-store';
import type { NewUser, StoredUser, UserId } from './user-store';

/** A user found by name, and how often the password had been changed by then. */
export interface FoundCredentials {
  readonly user: StoredUser | null;
  readonly version: number;
}

export interface ReplacePassword extends Circumstances {
  readonly userId: UserId;
  readonly passwordHash: string;
  /** The hash that was verified; the change is refused when another one has taken its place. */
  readonly expectedHash?: string;
  /** The token that allows it, which is used up; null where something else does. */
  readonly resetDigest: string | null;
  /** Whether the other sessions end. */
  readonly revoke: boolean;
  /** The session that goes on, with a fresh token pair; null where there is none. */
  readonly keep: { readonly sessionId: string; readonly issued: IssuedPair } | null;
}

export type ReplaceOutcome =
  /** Nothing is kept where the session to keep ended meanwhile. */
  | { readonly kind: 'replaced'; readonly kept: SessionRecord | null; readonly ended: readonly EndedSession[] }
  /** The user, the verified password, the token or the session to keep is not there any more. */
  | { readonly kind: 'refused'; readonly ended: readonly EndedSession[] }
  /** Users elsewhere: it failed half-way, after sessions had ended and before or after the password was set. */
  | {
      readonly kind: 'broken';
      readonly isSet: boolean;
      readonly ended: readonly EndedSession[];
      readonly error: unknown;
    };

/** Passwords, wherever the host keeps them. */
export abstract class CredentialStore {
  /** Asks the same of the database whether the name is known or not. */
  abstract find(username: string): Promise<FoundCredentials>;
  /** Whether passwords can be set here. */
  abstract readonly canSetPasswords: boolean;
  /** One atomic unit where the users are in the same DataSource; otherwise the sessions end first. */
  abstract replace(command: ReplacePassword): Promise<ReplaceOutcome>;
  /** Stores a token for a new password; the user's earlier ones are good for nothing any more. */
  abstract addReset(userId: UserId, digest: string, expiresAt: number): Promise<void>;
  /** The user (as text) whose token this is, while it is good. */
  abstract ownerOfReset(digest: string, now: number): Promise<string | null>;
  abstract create(user: NewUser): Promise<StoredUser | null>;
}
