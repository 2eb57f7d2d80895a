import type { Model } from './model';
import type { ModelSession, Pair } from './state';

/** What a refresh gives: a new pair, which `refreshed` has to be told, the same pair again, or a refusal. */
export type RefreshVerdict =
  { readonly kind: 'new' | 'same'; readonly session: ModelSession } | { readonly kind: 'refused' };

const REFUSED = { kind: 'refused' } as const;

/** Judges the presentation of a refresh token, and does what follows from one that is not live. */
export function judgeRefresh(model: Model, token: string): RefreshVerdict {
  const session = model.sessions.find(({ pair }) => pair.refreshToken === token);
  if (!session) return judgeRetired(model, token);
  model.notice(session);
  if (session.state !== 'active' || model.now >= session.refreshEnd || model.isGone(session.user)) return REFUSED;
  return { kind: 'new', session };
}

export function refreshed(model: Model, session: ModelSession, pair: Pair): void {
  const { rotateRefreshTokens, refreshReuseGraceSeconds } = model.options;
  model.give(session, pair, rotateRefreshTokens ? 'used' : null);
  model.touch(session);
  if (refreshReuseGraceSeconds > 0) session.answerUntil = model.now + refreshReuseGraceSeconds * 1000;
  model.log(session.user, 'token_refresh');
}

function judgeRetired(model: Model, token: string): RefreshVerdict {
  const isIt = (one: { readonly token: string }): boolean => one.token === token;
  const session = model.sessions.find((one) => one.retired.some(isIt));
  const retired = session?.retired.find(isIt);
  if (!session || retired?.state !== 'used') return REFUSED;
  model.notice(session);
  if (session.state !== 'active') return REFUSED;
  const isPredecessor = session.retired.at(-1) === retired;
  if (isPredecessor && session.answerUntil !== null && model.now < session.answerUntil) {
    return model.isGone(session.user) ? REFUSED : { kind: 'same', session };
  }
  const { user } = session;
  const ended = model.endAll(model.activeOf(user), 'token_reuse');
  model.log(user, 'token_reuse', { session_id: session.id, sessions_ended: ended });
  const behind = session.generation - retired.generation;
  model.signals.push(`token_reuse_detected ${user.name} ${session.id} ${ended} ${retired.at} ${behind}`);
  return REFUSED;
}
