import type { Sent } from './instance';
import type { Model } from './model';

/** A signal as text: its name, and of its payload what the model can tell. */
export function signalKey({ name, payload }: Sent, model: Model): string {
  expect(JSON.stringify(payload)).not.toMatch(/nsa[arp]_/);
  return [name, ...toldBy({ name, payload } as Sent, (id) => nameOf(model, id))].join(' ');
}

function toldBy({ name, payload }: Sent, who: (id: unknown) => string): readonly unknown[] {
  switch (name) {
    case 'user_logged_in':
      expect(payload.newDevice).toBe(false);
      return [who(payload.userId), payload.session.id];
    case 'user_logged_out':
      return [who(payload.userId), payload.session.id, payload.reason];
    case 'login_failed':
      expect(payload.username).toBe(who(payload.userId));
      return [payload.username, payload.failureCount];
    case 'brute_force_threshold_hit':
      return [payload.username, payload.failureCount];
    case 'session_limit_reached':
      return [who(payload.userId), payload.activeSessions];
    case 'password_changed':
      return [who(payload.userId), payload.session?.id];
    case 'password_reset':
      return [who(payload.userId)];
    case 'token_reuse_detected': {
      const { userId, session, sessionsEnded, reuse } = payload;
      return [who(userId), session.id, sessionsEnded, reuse.usedAt.getTime(), reuse.generationsBehind];
    }
  }
}

function nameOf({ users }: Model, id: unknown): string {
  return users.find((user) => user.id === String(id))?.name ?? 'nobody';
}
