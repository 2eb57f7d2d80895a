import type { AccountStatus } from './account-status';
import type { EndedSession, SessionRecord } from './session';
import type { PairExpiries } from './tokens';

/** What became of opening a session. */
export type OpenOutcome =
  | {
      readonly kind: 'opened';
      readonly session: SessionRecord;
      /** The sessions that the policy ended for it. */
      readonly ended: readonly EndedSession[];
      readonly newDevice: boolean;
    }
  | { readonly kind: 'limit_reached'; readonly activeSessions: number }
  /** The password was changed, the user disabled or the login ticket used meanwhile. */
  | { readonly kind: 'credentials_changed' };

/** A session that continues with a fresh token pair. */
export interface ReissuedSession extends PairExpiries {
  readonly session: SessionRecord;
}

/** A session that was refreshed from another network than before. */
export interface NetworkChange {
  readonly session: SessionRecord;
  readonly from: string;
  readonly to: string;
}

/** What became of a presented refresh token. */
export type RotateOutcome =
  | {
      readonly kind: 'rotated';
      readonly expiries: PairExpiries;
      /** Null where the session was refreshed from the same network as before, or from one that is not tracked. */
      readonly networkChange: NetworkChange | null;
    }
  /** The pair that followed the token is returned again. It is derived from this seed. */
  | {
      readonly kind: 'replayed';
      readonly seed: string;
      readonly expiries: PairExpiries;
      readonly networkChange: NetworkChange | null;
    }
  /** Nothing was changed. The presented pair is returned. */
  | { readonly kind: 'unchanged'; readonly expiries: PairExpiries }
  /** Nothing was changed. */
  | { readonly kind: 'refused' }
  /** Nothing was changed. The token is newer than the session: the database has lost commits, or was restored. */
  | { readonly kind: 'newer_than_database'; readonly session: SessionRecord }
  /** The database failed, or did not answer in time. The token is rotated, or will be, or neither. */
  | { readonly kind: 'unknown' }
  /** The session has expired, which is yet to be stored. */
  | { readonly kind: 'session_expired'; readonly userId: string }
  /** The user is disabled or deleted, and the sessions are yet to be ended. */
  | { readonly kind: 'account_inactive'; readonly userId: string; readonly account: AccountStatus }
  /** The token had been used: every session of the user has ended. */
  | {
      readonly kind: 'reused';
      readonly session: SessionRecord;
      readonly ended: readonly EndedSession[];
      readonly generationsBehind: number;
      readonly lastRefreshAt: number;
    };
