import { Inject, Injectable } from '@nestjs/common';
import type { ClientInfo } from '../adapters/second-factor';
import type { UserId } from '../adapters/user-store';
import { AuthError, invalidField } from '../base/errors';
import { actorOf, FIELD_MESSAGES, UUID } from '../base/fields';
import {
  assertPositive,
  type AuthEventEntry,
  HISTORY_LIMIT,
  type HistoryRequest,
  isEventName,
} from '../history/history';
import type { SessionInfo } from '../history/signals';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import { SessionDirectory } from './administration';
import type { AuthPrincipal } from './authenticate';
import { SessionLifecycle } from './lifecycle';
import { SessionStore } from './look-up';
import { areMethodsRecent } from './proofs';
import { type EndedSession, isExpired, toSessionInfo } from './session';
import { SessionTransitions } from './transitions';

/** Lists and ends the sessions of one user, and reads the user's history. */
@Injectable()
export class UserSessions {
  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    private readonly sessions: SessionStore,
    private readonly transitions: SessionTransitions,
    private readonly directory: SessionDirectory,
    private readonly lifecycle: SessionLifecycle,
  ) {}

  async list(userId: UserId, currentId: string | null): Promise<SessionInfo[]> {
    const sessions = await this.sessions.listActive(String(userId));
    const live = sessions.filter((session) => !isExpired(session, this.lifecycle.now()));
    if (live.length < sessions.length) await this.lifecycle.expireSessions(String(userId));
    return live.map((session) => toSessionInfo(session, currentId));
  }

  async history(userId: UserId, request: HistoryRequest): Promise<readonly AuthEventEntry[]> {
    const { limit = HISTORY_LIMIT.default, before = Infinity, event } = request;
    const events = event === undefined ? null : [event].flat();
    assertPositive('limit', limit);
    assertPositive('before', before);
    if (events && !(events.length > 0 && events.every(isEventName))) throw invalidField('event', FIELD_MESSAGES.event);
    return this.directory.history(String(userId), { before, events, limit: Math.min(limit, HISTORY_LIMIT.max) });
  }

  async logout({ userId, session }: AuthPrincipal, info: ClientInfo): Promise<void> {
    await this.end({ userId: String(userId), sessionId: session.id, reason: 'logout' }, info, session.id);
  }

  /**
   * Ends all sessions of the user, or all except the current session.
   * @returns the number of sessions that this call ended, without those that had already expired
   */
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

  /**
   * Ends one session.
   * @throws AuthError `session_not_found` if the user has no active session with this id; `invalid_field` if the
   *   actor is invalid
   */
  async revoke(
    userId: UserId,
    sessionId: string,
    info: ClientInfo,
    options: { readonly currentId: string | null; readonly reason: 'user' | 'admin'; readonly actor?: string },
  ): Promise<void> {
    const { currentId, reason, actor } = options;
    const actorOption = actor === undefined ? {} : { actor: actorOf(actor) };
    const id = typeof sessionId === 'string' ? sessionId.toLowerCase() : '';
    const ended = UUID.test(id)
      ? await this.end({ userId: String(userId), sessionId: id, reason, ...actorOption }, info, currentId)
      : [];
    if (!ended.some((one) => one.reason === reason)) throw new AuthError('session_not_found', 'Session not found.');
  }

  /**
   * Checks that the user proved their identity within the last `withinSeconds` seconds. (ASVS 7.5.1, 7.5.3)
   * @param methods the methods that must all have been proven within that time. Default: none. In this case,
   *   `authenticatedAt` must be within that time
   * @throws AuthError `recent_login_required`
   */
  assertRecentLogin(principal: AuthPrincipal, withinSeconds: number, methods: readonly string[] = []): void {
    const now = this.lifecycle.now();
    const withinMs = withinSeconds * 1000;
    const isRecent =
      methods.length === 0
        ? now - principal.authenticatedAt.getTime() < withinMs
        : areMethodsRecent(principal.methods, methods, withinMs, now);
    if (isRecent) return;
    throw new AuthError('recent_login_required', 'A recent login is required.');
  }

  /** Checks that the user recently proved their identity, if the options require this to end sessions. (ASVS 7.5.2) */
  assertMayEnd(principal: AuthPrincipal): void {
    const { toEndSessionsSeconds } = this.options.recentLogin;
    if (toEndSessionsSeconds !== false) this.assertRecentLogin(principal, toEndSessionsSeconds);
  }

  private async end(
    command: Omit<Parameters<SessionTransitions['end']>[0], 'now' | 'client'>,
    info: ClientInfo,
    currentId: string | null,
  ): Promise<readonly EndedSession[]> {
    const context = this.lifecycle.operationContext(info);
    const ended = await this.transitions.end({ ...context, ...command });
    this.lifecycle.publishSessionEnded(ended, currentId);
    return ended;
  }
}
