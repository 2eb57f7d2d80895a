import { Req, UseGuards } from '@nestjs/common';
import { DEVICE_TYPES, type DeviceType } from '../adapters/device-detector';
import { AUTH_EVENT_NAMES, type SessionState } from '../database/entities';
import { ClientInspector } from '../history/event-log';
import { type AuthEventEntry, History, HISTORY_LIMIT, type HistoryRequest } from '../history/history';
import type { SessionInfo } from '../history/signals';
import { OwnSessions } from '../sessions/own-sessions';
import { BearerAuthGuard } from './bearer-auth.guard';
import { ApiProperty, ApiSchema, AuthEndpoint, DetailResponse, text, timestamp, uuid } from './openapi';
import { type AuthRequest, operationOf, principalOf } from './request';
import { LibraryController } from './wire-format';

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
  @ApiProperty({ ...IP_ADDRESS, description: 'The address of the last refresh, or of the login. Null if unknown.' })
  last_ip_address!: string | null;
  @ApiProperty(timestamp('When the session ends if it is not used again.')) expires_at!: string;
  @ApiProperty({
    type: 'array',
    items: { type: 'string' },
    description: 'How the user was identified.',
    example: ['pwd'],
  })
  methods!: readonly string[];
  @ApiProperty({ type: 'boolean', description: 'Whether an administrator opened the session.', example: false })
  impersonated!: boolean;
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
      user_id: { type: 'string' },
      ended_by: { type: 'string' },
      sessions_ended: { type: 'integer', minimum: 0 },
      new_device: { type: 'boolean' },
      replayed: { type: 'boolean' },
      network_changed: { type: 'boolean' },
      key_id: { type: 'string', format: 'uuid' },
      name: { type: 'string' },
      scopes: { type: 'array', items: { type: 'string' } },
      scope: { type: 'string', enum: ['network', 'session', 'account'] },
      until: { type: 'string', format: 'date-time', nullable: true },
    },
    additionalProperties: true,
    example: { new_device: true },
  })
  extra!: Readonly<Record<string, unknown>>;

  @ApiProperty(timestamp('The time of the event.')) timestamp!: string;
}

/** The endpoints for a user's own sessions and history. */
@LibraryController()
@UseGuards(BearerAuthGuard)
export class SessionsController {
  /** @internal */
  constructor(
    private readonly sessions: OwnSessions,
    private readonly histories: History,
    private readonly clients: ClientInspector,
  ) {}

  /** `GET sessions/` lists the active sessions. */
  @AuthEndpoint('GET', 'sessions', {
    id: 'authListSessions',
    summary: 'Lists the active sessions of the user, newest first',
    returns: [SessionResponse],
  })
  async list(@Req() request: AuthRequest): Promise<SessionResponse[]> {
    const { userId, sessionId } = principalOf(request);
    return (await this.sessions.list(userId, sessionId)).map(sessionResponse);
  }

  /** `DELETE sessions/<id>/` ends one session. */
  @AuthEndpoint('DELETE', 'sessions/:sessionId', {
    id: 'authRevokeSession',
    summary: 'Ends one session of the user',
    params: { sessionId: uuid('The `id` of a session in the list of sessions.') },
    returns: DetailResponse,
    errors: ['session_not_found', 'recent_login_required', 'not_allowed_while_impersonating', 'cross_site_request'],
  })
  async revoke(@Req() request: AuthRequest): Promise<DetailResponse> {
    const principal = principalOf(request);
    const { sessionId } = request.params as { sessionId: string };
    this.sessions.assertMayEnd(principal, sessionId);
    const op = operationOf(request, this.clients);
    const by = { currentId: principal.sessionId, reason: 'user' } as const;
    // An administrator who acts as the user may end only the impersonation, as by a logout.
    if (principal.actor) await this.sessions.logout(principal, op);
    else await this.sessions.revoke(principal.userId, sessionId, op, by);
    return { detail: 'Session revoked.' };
  }

  /** `GET history/` lists the latest events. */
  @AuthEndpoint('GET', 'history', {
    id: 'authHistory',
    summary: 'Lists the latest authentication events of the user, newest first',
    query: {
      limit: {
        type: 'integer',
        description: `The maximum number of events. Values above ${HISTORY_LIMIT.max} are treated as ${HISTORY_LIMIT.max}.`,
        minimum: 1,
        default: HISTORY_LIMIT.default,
      },
      before: {
        type: 'integer',
        description: 'The `id` of an event, such as the last one of a page. Only earlier events are returned.',
        minimum: 1,
      },
      event: {
        type: 'array',
        description: 'The names of the events to return, separated by commas. Default: all events.',
        items: { type: 'string', enum: [...AUTH_EVENT_NAMES] },
        minItems: 1,
      },
    },
    returns: [HistoryEntryResponse],
  })
  async history(@Req() request: AuthRequest): Promise<HistoryEntryResponse[]> {
    const entries = await this.histories.list(principalOf(request).userId, historyRequestOf(request.url));
    return entries.map(historyEntryResponse);
  }
}

function sessionResponse(session: SessionInfo): SessionResponse {
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
    last_ip_address: session.lastIpAddress,
    expires_at: session.expiresAt.toISOString(),
    methods: session.methods,
    impersonated: session.impersonated,
  };
}

function historyEntryResponse(entry: AuthEventEntry): HistoryEntryResponse {
  const { id, event, ipAddress, userAgent, extra, timestamp } = entry;
  return { id, event, ip_address: ipAddress, user_agent: userAgent, extra, timestamp: timestamp.toISOString() };
}

/** Reads the query from the URL, because query parsers treat repeated and empty parameters differently. */
function historyRequestOf(url: string): HistoryRequest {
  const query = new URLSearchParams(url.split('?').slice(1).join('?'));
  const request: { limit?: number; before?: number; event?: readonly string[] } = {};
  for (const name of ['limit', 'before'] as const) {
    // The values of a repeated parameter are not an integer either.
    const values = query.getAll(name).join();
    if (query.has(name)) request[name] = /^[0-9]+$/.test(values) ? Number(values) : NaN;
  }
  const [events, ...others] = query.getAll('event');
  // An empty list is refused.
  if (events !== undefined) request.event = others.length > 0 ? [] : events.split(',');
  return request;
}
