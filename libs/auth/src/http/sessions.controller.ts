import { Delete, Get, Req, UseGuards } from '@nestjs/common';
import { AuthService } from '../auth.service';
import { AUTH_EVENT_NAMES } from '../database/entities';
import { HISTORY_LIMIT } from '../history/history';
import { BearerAuthGuard } from './bearer-auth.guard';
import {
  historyEntryResponse,
  HistoryEntryResponse,
  historyRequestOf,
  sessionResponse,
  SessionResponse,
} from './bodies';
import { AuthEndpoint, LibraryController, DetailResponse, uuid } from './openapi';
import { type AuthRequest, clientOfLibraryRoute, principalOf } from './request';

/** The endpoints for a user's own sessions and history. */
@LibraryController()
@UseGuards(BearerAuthGuard)
export class SessionsController {
  constructor(private readonly auth: AuthService) {}

  /** `GET sessions/` lists the active sessions. */
  @Get('sessions')
  @AuthEndpoint({
    id: 'authListSessions',
    summary: 'Lists the active sessions of the user, newest first',
    returns: [SessionResponse],
  })
  async list(@Req() request: AuthRequest): Promise<SessionResponse[]> {
    const { userId, sessionId } = principalOf(request);
    const sessions = await this.auth.listSessions(userId, { currentSessionId: sessionId });
    return sessions.map(sessionResponse);
  }

  /** `DELETE sessions/<id>/` ends one session. */
  @Delete('sessions/:sessionId')
  @AuthEndpoint({
    id: 'authRevokeSession',
    summary: 'Ends one session of the user',
    params: { sessionId: uuid('The `id` of a session in the list of sessions.') },
    returns: DetailResponse,
    errors: ['session_not_found', 'recent_login_required', 'cross_site_request'],
  })
  async revoke(@Req() request: AuthRequest): Promise<DetailResponse> {
    const principal = principalOf(request);
    this.auth.assertMayEndSessions(principal);
    const { userId, sessionId: currentSessionId } = principal;
    const { sessionId } = request.params as { sessionId: string };
    await this.auth.revokeSession(userId, sessionId, clientOfLibraryRoute(request), { currentSessionId });
    return { detail: 'Session revoked.' };
  }

  /** `GET history/` lists the latest events. */
  @Get('history')
  @AuthEndpoint({
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
        description:
          'The `id` of an event. Only earlier events are returned. To get the next page, pass the last `id` of a page.',
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
    const entries = await this.auth.history(principalOf(request).userId, historyRequestOf(request.url));
    return entries.map(historyEntryResponse);
  }
}
