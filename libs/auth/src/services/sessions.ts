import { actorOf } from '../domain/actor';
import type { AuthEventEntry } from '../domain/auth-event';
import type { ClientInfo } from '../domain/client';
import { AuthError, invalidField } from '../domain/errors';
import { FIELD_MESSAGES } from '../domain/fields';
import type { EventLog } from '../domain/ports/event-log';
import type { SessionStore } from '../domain/ports/session-store';
import type { UserId } from '../domain/ports/user-store';
import { viewSession, type EndedSession, type Session } from '../domain/session';
import type { AuthPrincipal } from './authentication';
import type { ClientInspector } from './client-inspector';
import type { SessionNotices } from './session-notices';

export const HISTORY_LIMIT = { default: 50, max: 200 } as const;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** What users see of their sessions and do with them. */
export class Sessions {
  constructor(
    private readonly inspector: ClientInspector,
    private readonly sessions: SessionStore,
    private readonly events: EventLog,
    private readonly notices: SessionNotices,
  ) {}

  async list(userId: UserId, currentId: string | null): Promise<Session[]> {
    const sessions = await this.sessions.listActive(String(userId));
    const live = sessions.filter((session) => !this.notices.isOver(session));
    if (live.length < sessions.length) await this.notices.noticeOver(String(userId));
    return live.map((session) => viewSession(session, currentId));
  }

  async history(userId: UserId, limit: number = HISTORY_LIMIT.default): Promise<readonly AuthEventEntry[]> {
    if (!(limit >= 1) || (Number.isFinite(limit) && !Number.isInteger(limit))) {
      throw invalidField('limit', FIELD_MESSAGES.integer);
    }
    return this.events.latest(String(userId), Math.min(limit, HISTORY_LIMIT.max));
  }

  async logout({ userId, session }: AuthPrincipal, info: ClientInfo): Promise<void> {
    await this.end({ userId: String(userId), sessionId: session.id, reason: 'logout' }, info, session.id);
  }

  /** How many sessions this call ended. */
  async logoutAll(
    { userId, session }: AuthPrincipal,
    { keepCurrent }: { keepCurrent: boolean },
    info: ClientInfo,
  ): Promise<number> {
    const command = {
      userId: String(userId),
      reason: 'logout_all' as const,
      current: { id: session.id, reason: 'logout' as const },
      ...(keepCurrent ? { exceptId: session.id } : {}),
    };
    const ended = await this.end(command, info, session.id);
    return ended.filter(({ reason }) => reason !== 'expired').length;
  }

  /** @throws AuthError `session_not_found` for whatever is no active session of this user */
  async revoke(
    userId: UserId,
    sessionId: string,
    info: ClientInfo,
    {
      currentId,
      reason,
      actor,
    }: { readonly currentId: string | null; readonly reason: 'user' | 'admin'; readonly actor?: string },
  ): Promise<void> {
    const by = actor === undefined ? {} : { actor: actorOf(actor) };
    const id = typeof sessionId === 'string' ? sessionId.toLowerCase() : '';
    const ended = UUID.test(id)
      ? await this.end({ userId: String(userId), sessionId: id, reason, ...by }, info, currentId)
      : [];
    if (!ended.some((one) => one.reason === reason)) {
      throw new AuthError('session_not_found', 'Session not found.');
    }
  }

  private async end(
    command: Omit<Parameters<SessionStore['end']>[0], 'now' | 'limits' | 'client'>,
    info: ClientInfo,
    currentId: string | null,
  ): Promise<readonly EndedSession[]> {
    const at = this.notices.circumstances(this.inspector.inspect(info));
    const ended = await this.sessions.end({ ...at, ...command });
    this.notices.tellEnds(ended, currentId);
    return ended;
  }
}
