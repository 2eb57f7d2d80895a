import type { EndedSession, SessionRecord } from './session';

/** What became of a login that was verified. */
export type OpenOutcome =
  | {
      readonly kind: 'opened';
      readonly session: SessionRecord;
      readonly ended: readonly EndedSession[];
      readonly newDevice: boolean;
    }
  | { readonly kind: 'limit_reached'; readonly activeSessions: number }
  /** The password was changed, or the user disabled, while it was being verified. */
  | { readonly kind: 'credentials_changed' };

/** What became of a presented refresh token. */
export type RotateOutcome =
  | { readonly kind: 'rotated' }
  /** The direct predecessor of the live token, within the grace period: its answer is given again. */
  | { readonly kind: 'replayed'; readonly sealedAnswer: string }
  /** Unknown, expired, revoked, or of a family that is already dead: nothing was changed. */
  | { readonly kind: 'refused' }
  /** The session's time is over, which is yet to be stored. */
  | { readonly kind: 'session_over'; readonly userId: string }
  /** The user is disabled or gone; the sessions are yet to be ended. */
  | { readonly kind: 'user_gone'; readonly userId: string; readonly account: AccountStatus }
  | {
      readonly kind: 'reused';
      readonly session: SessionRecord;
      readonly ended: readonly EndedSession[];
      readonly usedAt: number;
      readonly generationsBehind: number;
    };

/** Whether a user may be signed in. */
export type AccountStatus = 'active' | 'disabled' | 'deleted';
