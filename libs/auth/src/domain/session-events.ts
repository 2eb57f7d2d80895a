import type { AuthEventName, NewAuthEvent } from './auth-event';
import type { Client } from './client';
import type { EndedSession, EndReason } from './session';

/** The event of each way to end. A reuse has one event for all sessions, and expiry has none. */
const EVENT_OF: Readonly<Record<EndReason, AuthEventName | null>> = {
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

/** An event that is about to be written. */
export function newEvent(
  event: AuthEventName,
  userId: string | null,
  client: Pick<Client, 'ipAddress' | 'userAgent'>,
  at: number,
  extra: Record<string, unknown> = {},
): NewAuthEvent {
  return { event, userId, ipAddress: client.ipAddress, userAgent: client.userAgent, extra, at };
}

/** The events of sessions that ended. */
export function endEvents(
  ended: readonly EndedSession[],
  client: Pick<Client, 'ipAddress' | 'userAgent'>,
  at: number,
  actor: string | null = null,
): NewAuthEvent[] {
  return ended.flatMap(({ session, reason }) => {
    const event = EVENT_OF[reason];
    if (event === null) return [];
    const by = actor !== null && reason === 'admin' ? { actor } : {};
    const extra = event === 'logout' ? {} : { session_id: session.id, reason, ...by };
    return [newEvent(event, session.userId, client, at, extra)];
  });
}
