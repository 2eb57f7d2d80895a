import { DEVICE_TYPES, type DeviceType } from '../adapters/device-detector';
import { AUTH_EVENT_NAMES, type SessionState } from '../database/entities';
import type { AuthEventEntry } from '../history/history';
import type { SessionInfo } from '../history/signals';
import type { OpenedSession, TokenPair } from '../tokens/tokens';
import { ApiProperty, ApiSchema, text, timestamp, uuid } from './openapi';

// Handlers return plain objects, because the application's interceptors may transform class instances.

@ApiSchema('AuthTokenPair')
export class TokenPairResponse {
  @ApiProperty(
    text('The access token, an opaque string. Send it in the header `Authorization: Bearer <access_token>`.', 'nsaa_…'),
  )
  access_token!: string;
  @ApiProperty(
    text('The refresh token, an opaque string. Send it to `token/refresh/` once to get a new pair.', 'nsar_…'),
  )
  refresh_token!: string;
  @ApiProperty({ type: 'string', enum: ['Bearer'], example: 'Bearer' }) token_type!: 'Bearer';
}

@ApiSchema('AuthOpenedSession')
export class OpenedSessionResponse extends TokenPairResponse {
  @ApiProperty(uuid('The id of the new session.')) session_id!: string;
}

const IP_ADDRESS = {
  ...text('The IP address at the login or event. Null if unknown or not tracked.', '203.0.113.7'),
  nullable: true,
};

@ApiSchema('AuthSession')
export class SessionResponse {
  @ApiProperty(uuid('The id of the session. Pass it to `DELETE sessions/{sessionId}` to end the session.')) id!: string;
  @ApiProperty({ ...text('The state. Only active sessions are listed.', 'active'), enum: ['active'] })
  state!: SessionState;
  @ApiProperty(IP_ADDRESS) ip_address!: string | null;
  @ApiProperty({ type: 'string', enum: [...DEVICE_TYPES], example: 'mobile' }) device_type!: DeviceType;
  @ApiProperty(text('The family of the operating system. `Other` if unknown.', 'Android')) os_family!: string;
  @ApiProperty(text('The family of the browser. `Other` if unknown.', 'Chrome Mobile')) browser_family!: string;
  @ApiProperty(text('The make and model of the device. `Other` if unknown.', 'Samsung SM-G991B')) device_name!: string;
  @ApiProperty(timestamp('The time of the login.')) created_at!: string;
  @ApiProperty(timestamp('The time of the last activity. By default, it is accurate to one minute.'))
  last_activity!: string;

  @ApiProperty({ type: 'boolean', description: 'Whether this is the session of the request.', example: true })
  is_current!: boolean;
}

@ApiSchema('AuthHistoryEntry')
export class HistoryEntryResponse {
  @ApiProperty({ type: 'integer', example: 1042 }) id!: number;
  @ApiProperty({ type: 'string', enum: [...AUTH_EVENT_NAMES], example: 'login_success' }) event!: string;
  @ApiProperty(IP_ADDRESS) ip_address!: string | null;
  @ApiProperty({
    ...text('The User-Agent header of the request. Empty if unknown or not tracked.', 'Mozilla/5.0'),
    maxLength: 500,
  })
  user_agent!: string;

  @ApiProperty({
    type: 'object',
    description: 'Details, which depend on the event. Empty for most events.',
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
      scope: { type: 'string', enum: ['network', 'session', 'account'] },
      until: { type: 'string', format: 'date-time', nullable: true },
    },
    additionalProperties: true,
    example: { new_device: true },
  })
  extra!: Readonly<Record<string, unknown>>;

  @ApiProperty(timestamp('The time of the event.')) timestamp!: string;
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
