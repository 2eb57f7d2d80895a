import type { AuthEventEntry, AuthEventName } from '../domain/auth-event';
import type { DeviceType } from '../domain/device';
import type { AccountStatus } from '../domain/outcomes';
import type { SessionRecord, SessionState } from '../domain/session';
import type { Row } from './sql/unit';

/** Drivers give 64-bit columns as numbers or as text. */
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
    idleExpiresAt: Number(row['idle_expires_at']),
    absoluteExpiresAt: Number(row['absolute_expires_at']),
  };
}

export function accountFromRow(row: Row): AccountStatus | null {
  return (row['account'] ?? null) as AccountStatus | null;
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
