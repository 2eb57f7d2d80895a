import type { AccountStatus } from './account-status';
import type { EndedSession, SessionRecord } from './session';
import type { PairExpiries } from './tokens';

/** The result of opening a session. */
export type OpenOutcome =
  | {
      readonly kind: 'opened';
      readonly session: SessionRecord;
      /** At the session limit, the expired sessions and the sessions that the limit ended. Otherwise empty. */
      readonly ended: readonly EndedSession[];
      readonly newDevice: boolean;
    }
  | { readonly kind: 'limit_reached'; readonly activeSessions: number }
  /** The credentials version, the account or the login ticket has changed in the meantime. */
  | { readonly kind: 'credentials_changed' };

/** A session that continues with a new token pair. */
export interface ReissuedSession extends PairExpiries {
  readonly session: SessionRecord;
}

/** A session that was refreshed from a different network than before. */
export interface NetworkChange {
  readonly session: SessionRecord;
  readonly from: string;
  readonly to: string;
}

/** The result of presenting a refresh token. */
export type RotateOutcome =
  | {
      readonly kind: 'rotated';
      readonly expiries: PairExpiries;
      /** Null if no change of the network is known, for example because networks are not tracked. */
      readonly networkChange: NetworkChange | null;
    }
  /** The pair that replaced the token is issued again, derived from the seed. */
  | {
      readonly kind: 'replayed';
      readonly seed: string;
      readonly expiries: PairExpiries;
      readonly networkChange: NetworkChange | null;
    }
  /** Nothing was changed. The presented pair is returned. */
  | { readonly kind: 'unchanged'; readonly expiries: PairExpiries }
  /** The token is refused, and no session ends. */
  | { readonly kind: 'refused' }
  /** Nothing was changed. The token is newer than the stored session. The database has probably lost commits. */
  | { readonly kind: 'newer_than_database'; readonly session: SessionRecord }
  /** The database failed or did not answer in time. The token may have been rotated, or may be rotated later. */
  | { readonly kind: 'unknown' }
  /** The session has expired. The expiry is not stored yet. */
  | { readonly kind: 'session_expired'; readonly userId: string }
  /** The user is disabled or deleted. The sessions are not ended yet. */
  | { readonly kind: 'account_inactive'; readonly userId: string; readonly account: AccountStatus }
  /** The token was used before. All sessions of the user have ended. */
  | {
      readonly kind: 'reused';
      readonly session: SessionRecord;
      readonly ended: readonly EndedSession[];
      readonly generationsBehind: number;
      readonly lastRefreshAt: number;
    };
