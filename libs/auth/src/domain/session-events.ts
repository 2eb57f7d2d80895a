import type { AuthEventName, NewAuthEvent } from './auth-event';
import type { Client } from './client';
import type { EndedSession, EndReason } from './session';

/** The event that records each end reason. One `token_reuse` event covers all sessions. An expiry has no event. */
const EVENT_BY_REASON: Readonly<Record<EndReason, AuthEventName | null>> = {
  logout: 'logout',
  logout_all: 'session_revoked',
  user: 'session_revoked',
  admin: 'session_revoked',
  session_policy: 'forced_logout',
  password_change: 'forced_logout',
  password_reset: 'forced_logout',
  user_disabled: 'forced_logout',
  user_deleted: 'forced_logout',
  failed_reauthentication: 'forced_logout',
  token_reuse: null,
  expired: null,
};

/** Creates an event to write. */
export function newEvent(
  event: AuthEventName,
  userId: string | null,
  client: Pick<Client, 'ipAddress' | 'userAgent'>,
  at: number,
  extra: Record<string, unknown> = {},
): NewAuthEvent {
  return { event, userId, ipAddress: client.ipAddress, userAgent: client.userAgent, extra, at };
}

/** Creates the events that record the end of sessions. */
export function endEvents(
  ended: readonly EndedSession[],
  client: Pick<Client, 'ipAddress' | 'userAgent'>,
  at: number,
  actor: string | null = null,
): NewAuthEvent[] {
  return ended.flatMap(({ session, reason }) => {
    const event = EVENT_BY_REASON[reason];
    if (event === null) return [];
    const actorField = actor !== null && reason === 'admin' ? { actor } : {};
    const extra = event === 'logout' ? {} : { session_id: session.id, reason, ...actorField };
    return [newEvent(event, session.userId, client, at, extra)];
  });
}
