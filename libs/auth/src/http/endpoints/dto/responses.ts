import { AUTH_EVENT_NAMES, type AuthEventEntry } from '../../../domain/auth-event';
import { DEVICE_TYPES, type DeviceType } from '../../../domain/device';
import type { SessionInfo, SessionState } from '../../../domain/session';
import type { OpenedSession, TokenPair } from '../../../domain/tokens';
import { Property, text, timestamp, uuid } from './property';

// Handlers return plain objects: the application's interceptors may transform class instances.

export class DetailResponse {
  @Property(text('A message for people.', 'Session not found.')) detail!: string;
}

export class TokenPairResponse {
  @Property(text('Sent in the header `Authorization: Bearer`. Opaque.', 'nsaa_…')) access_token!: string;
  @Property(text('Sent to `token/refresh` once. Opaque.', 'nsar_…')) refresh_token!: string;
  @Property({ type: 'string', enum: ['Bearer'], example: 'Bearer' }) token_type!: 'Bearer';
}

export class OpenedSessionResponse extends TokenPairResponse {
  @Property(uuid('The new session.')) session_id!: string;
}

const IP_ADDRESS = { ...text('Null if unknown or not tracked.', '203.0.113.7'), nullable: true };

export class SessionResponse {
  @Property(uuid('Identifies the session in `DELETE sessions/{sessionId}`.')) id!: string;
  @Property({ ...text('Only active sessions are listed.', 'active'), enum: ['active'] }) state!: SessionState;
  @Property(IP_ADDRESS) ip_address!: string | null;
  @Property({ type: 'string', enum: [...DEVICE_TYPES], example: 'mobile' }) device_type!: DeviceType;
  @Property(text('`Other` if unknown.', 'Android')) os_family!: string;
  @Property(text('`Other` if unknown.', 'Chrome Mobile')) browser_family!: string;
  @Property(text('Make and model; `Other` if unknown.', 'Samsung SM-G991B')) device_name!: string;
  @Property(timestamp('The time of the login.')) created_at!: string;
  @Property(timestamp('Updated about once a minute.')) last_activity!: string;

  @Property({ type: 'boolean', description: 'Whether this is the session of the request.', example: true })
  is_current!: boolean;
}

export class HistoryEntryResponse {
  @Property({ type: 'integer', example: 1042 }) id!: number;
  @Property({ type: 'string', enum: [...AUTH_EVENT_NAMES], example: 'login_success' }) event!: string;
  @Property(IP_ADDRESS) ip_address!: string | null;
  @Property({ ...text('As sent; empty if not tracked.', 'Mozilla/5.0'), maxLength: 500 }) user_agent!: string;

  @Property({
    type: 'object',
    description: 'Details that depend on the event; `{}` for most.',
    properties: {
      username: { type: 'string' },
      failure_count: { type: 'integer', minimum: 1 },
      session_id: { type: 'string', format: 'uuid' },
      reason: { type: 'string' },
      actor: { type: 'string' },
      sessions_ended: { type: 'integer', minimum: 0 },
      new_device: { type: 'boolean' },
      replayed: { type: 'boolean' },
      network_changed: { type: 'boolean' },
    },
    additionalProperties: true,
    example: { new_device: true },
  })
  extra!: Readonly<Record<string, unknown>>;

  @Property(timestamp('The time of the event.')) timestamp!: string;
}

export function tokenPairResponse(pair: TokenPair): TokenPairResponse {
  return { access_token: pair.accessToken, refresh_token: pair.refreshToken, token_type: 'Bearer' };
}

export function openedSessionResponse(opened: OpenedSession): OpenedSessionResponse {
  const { access_token, refresh_token, token_type } = tokenPairResponse(opened);
  return { access_token, refresh_token, session_id: opened.sessionId, token_type };
}

export function sessionResponse(session: SessionInfo): SessionResponse {
  return {
    id: session.id,
    state: session.state,
    ip_address: session.ipAddress,
    device_type: session.deviceType,
    os_family: session.osFamily,
    browser_family: session.browserFamily,
    device_name: session.deviceName,
    created_at: session.createdAt.toISOString(),
    last_activity: session.lastActivity.toISOString(),
    is_current: session.isCurrent,
  };
}

export function historyEntryResponse(entry: AuthEventEntry): HistoryEntryResponse {
  return {
    id: entry.id,
    event: entry.event,
    ip_address: entry.ipAddress,
    user_agent: entry.userAgent,
    extra: entry.extra,
    timestamp: entry.timestamp.toISOString(),
  };
}
