import type { AuthEventEntry, AuthEventName } from '../../domain/auth-event';
import type { DeviceType } from '../../domain/device';
import type { AccountStatus } from '../../domain/account-status';
import type { StoredProofs } from '../../domain/proofs';
import type { RefreshableSession, TokenTransport } from '../../domain/refresh-decision';
import type { SessionRecord, SessionState } from '../../domain/session';
import type { PairExpiries } from '../../domain/tokens';
import type { Row } from './transaction';

/** Converts a row to a session. Drivers return 64-bit columns as numbers or as text. */
export function sessionFromRow(row: Row): SessionRecord {
  return {
    id: String(row['id']),
    userId: String(row['user_id']),
    state: row['state'] as SessionState,
    ipAddress: (row['ip_address'] ?? null) as string | null,
    deviceType: row['device_type'] as DeviceType,
    osFamily: String(row['os_family']),
    browserFamily: String(row['browser_family']),
    deviceName: String(row['device_name']),
    createdAt: Number(row['created_at']),
    authenticatedAt: Number(row['authenticated_at']),
    lastActivity: Number(row['last_activity']),
    expiresAt: Number(row['expires_at']),
  };
}

/** The columns that `proofsFromRow` reads. */
export const PROOF_COLUMNS = 'methods data';

export function proofsFromRow(row: Row): StoredProofs {
  return { methods: row['methods'] as string, data: (row['data'] ?? null) as string | null };
}

export function accountFromRow(row: Row): AccountStatus | null {
  return (row['account'] ?? null) as AccountStatus | null;
}

/** The columns that `expiriesFromRow` reads. */
export const EXPIRY_COLUMNS = 'accessExpiresAt refreshExpiresAt';

export function expiriesFromRow(row: Row): PairExpiries {
  return { accessExpiresAt: Number(row['access_expires_at']), refreshExpiresAt: Number(row['refresh_expires_at']) };
}

/**
 * The columns that `refreshableFromRow` reads, in addition to `absolute_end` and to the columns of
 * `sessionFromRow` and `accountFromRow`.
 */
export const TOKEN_COLUMNS = `accessDigest accessExpiresAt refreshDigest refreshExpiresAt familyDigest generation refreshedAt
  lastNetwork replaySeed replayUntil replayTransport replayNetworkDigest replayCount firstUsedAt`;

export function refreshableFromRow(row: Row): RefreshableSession {
  return {
    session: sessionFromRow(row),
    account: accountFromRow(row),
    accessDigest: String(row['access_digest']),
    refreshDigest: String(row['refresh_digest']),
    familyDigest: String(row['family_digest']),
    generation: Number(row['generation']),
    ...expiriesFromRow(row),
    absoluteEnd: Number(row['absolute_end']),
    refreshedAt: row['refreshed_at'] === null ? null : Number(row['refreshed_at']),
    lastNetwork: (row['last_network'] ?? null) as string | null,
    replay:
      row['replay_seed'] === null
        ? null
        : {
            seed: row['replay_seed'] as string,
            until: Number(row['replay_until']),
            transport: row['replay_transport'] as TokenTransport,
            networkDigest: String(row['replay_network_digest']),
            count: Number(row['replay_count']),
            accessTokenUsed: row['first_used_at'] !== null,
          },
  };
}

export function eventFromRow(row: Row): AuthEventEntry {
  return {
    id: Number(row['id']),
    event: row['event'] as AuthEventName,
    ipAddress: (row['ip_address'] ?? null) as string | null,
    userAgent: String(row['user_agent']),
    extra: JSON.parse(String(row['extra'])) as Record<string, unknown>,
    timestamp: new Date(Number(row['occurred_at'])),
  };
}
