import { Inject, Injectable } from '@nestjs/common';
import { actorOf } from '../../domain/actor';
import { AUTH_EVENT_NAMES, type AuthEventEntry } from '../../domain/auth-event';
import type { ClientInfo } from '../../domain/client';
import { AuthError, invalidField } from '../../domain/errors';
import { FIELD_MESSAGES, UUID } from '../../domain/fields';
import { areMethodsRecent } from '../../domain/proofs';
import { SessionDirectory, SessionStore, SessionTransitions } from '../../domain/ports/sessions';
import type { UserId } from '../../domain/ports/accounts';
import { isExpired, viewSession, type EndedSession, type SessionInfo } from '../../domain/session';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../../options/auth-options';
import type { AuthPrincipal } from './authentication';
import { SessionLifecycle } from './session-lifecycle';

export const HISTORY_LIMIT = { default: 50, max: 200 } as const;

/** Which of a user's events. */
export interface HistoryRequest {
  /** The number of events: 50 by default, 200 at most. */
  readonly limit?: number;
  /** The id of an event: only earlier ones. */
  readonly before?: number;
  /** Names of events: only these, among the newest 10,000 events before `before`. */
  readonly event?: string | readonly string[];
}

/** What users see of their sessions and do with them. */
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
    return live.map((session) => viewSession(session, currentId));
  }

  async history(userId: UserId, request: HistoryRequest): Promise<readonly AuthEventEntry[]> {
    const { limit = HISTORY_LIMIT.default, before = Infinity, event } = request;
    const events = event === undefined ? null : [event].flat();
    assertPositive('limit', limit);
    assertPositive('before', before);
    if (events && !(events.length > 0 && events.every(isEventName))) throw invalidField('event', FIELD_MESSAGES.event);
    return this.directory.history(String(userId), { before, events, most: Math.min(limit, HISTORY_LIMIT.max) });
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
    options: { readonly currentId: string | null; readonly reason: 'user' | 'admin'; readonly actor?: string },
  ): Promise<void> {
    const { currentId, reason, actor } = options;
    const by = actor === undefined ? {} : { actor: actorOf(actor) };
    const id = typeof sessionId === 'string' ? sessionId.toLowerCase() : '';
    const ended = UUID.test(id)
      ? await this.end({ userId: String(userId), sessionId: id, reason, ...by }, info, currentId)
      : [];
    if (!ended.some((one) => one.reason === reason)) throw new AuthError('session_not_found', 'Session not found.');
  }

  /**
   * @param methods those that must each have been proved within the time; none for any proof of identity
   * @throws AuthError `recent_login_required` where the last proof is longer ago. (ASVS 7.5.1, 7.5.3)
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

  /** The same for ending sessions, where the options ask for it. (ASVS 7.5.2) */
  assertMayEnd(principal: AuthPrincipal): void {
    const { toEndSessionsSeconds } = this.options.recentLogin;
    if (toEndSessionsSeconds !== false) this.assertRecentLogin(principal, toEndSessionsSeconds);
  }

  private async end(
    command: Omit<Parameters<SessionTransitions['end']>[0], 'now' | 'client'>,
    info: ClientInfo,
    currentId: string | null,
  ): Promise<readonly EndedSession[]> {
    const at = this.lifecycle.operationContext(info);
    const ended = await this.transitions.end({ ...at, ...command });
    this.lifecycle.publishSessionEnded(ended, currentId);
    return ended;
  }
}

/** A whole number of at least 1; more than any number that exists is one too. */
function assertPositive(field: string, value: number): void {
  if (value >= 1 && (value === Infinity || Number.isInteger(value))) return;
  throw invalidField(field, FIELD_MESSAGES.integer);
}

function isEventName(name: unknown): boolean {
  return (AUTH_EVENT_NAMES as readonly unknown[]).includes(name);
}
