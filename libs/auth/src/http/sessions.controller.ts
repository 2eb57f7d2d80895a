import { Controller, Delete, Get, Req, UseFilters, UseGuards, VERSION_NEUTRAL } from '@nestjs/common';
import { invalidField } from '../domain/errors';
import { FIELD_MESSAGES } from '../domain/fields';
import { AuthService } from '../services/auth.service';
import { HISTORY_LIMIT } from '../services/sessions';
import { AuthErrorFilter } from './auth-error.filter';
import { BearerAuthGuard } from './bearer-auth.guard';
import {
  historyEntryResponse,
  sessionResponse,
  type DetailResponse,
  type HistoryEntryResponse,
  type SessionResponse,
} from './dto/responses';
import { NoStore } from './no-store.decorator';
import { clientOf, principalOf, type AuthRequest } from './request';

/** The user's own sessions and history. */
@Controller({ version: VERSION_NEUTRAL })
@UseFilters(AuthErrorFilter)
@UseGuards(BearerAuthGuard)
@NoStore()
export class SessionsController {
  constructor(protected readonly auth: AuthService) {}

  /** `GET sessions/`: the active sessions. */
  @Get('sessions')
  async list(@Req() request: AuthRequest): Promise<SessionResponse[]> {
    const { userId, session } = principalOf(request);
    const sessions = await this.auth.listSessions(userId, { currentSessionId: session.id });
    return sessions.map(sessionResponse);
  }

  /** `DELETE sessions/<id>/`: ends one of them. */
  @Delete('sessions/:sessionId')
  async revoke(@Req() request: AuthRequest): Promise<DetailResponse> {
    const principal = principalOf(request);
    this.auth.assertMayEndSessions(principal);
    const { userId, session } = principal;
    const { sessionId } = request.params as { sessionId: string };
    await this.auth.revokeSession(userId, sessionId, clientOf(request), { currentSessionId: session.id });
    return { detail: 'Session revoked.' };
  }

  /** `GET history/`: the latest events. */
  @Get('history')
  async history(@Req() request: AuthRequest): Promise<HistoryEntryResponse[]> {
    const entries = await this.auth.history(principalOf(request).userId, { limit: historyLimit(request.url) });
    return entries.map(historyEntryResponse);
  }
}

/** Read from the URL itself: query parsers differ in what they make of a repeated or empty parameter. */
function historyLimit(url: string): number {
  const query = url.includes('?') ? url.slice(url.indexOf('?') + 1) : '';
  const given = new URLSearchParams(query).getAll('limit');
  if (given.length === 0) return HISTORY_LIMIT.default;
  if (given.length > 1 || !/^[0-9]+$/.test(given[0]!)) throw invalidField('limit', FIELD_MESSAGES.integer);
  return Number(given[0]);
}
