import type { PruneReport } from 'nestjs-session-auth';
import type { Model } from './model';
import { RETENTION_DAYS } from './options';
import { eventKey, type ModelEvent, type Stored } from './state';

/** What of a report the model can tell; it does not know in how many rows failed logins are counted. */
export type Cleaned = Pick<PruneReport, 'expiredSessions' | 'sealedAnswers' | 'refreshTokens' | 'sessions' | 'events'>;

const RETENTION_MS = RETENTION_DAYS * 86_400_000;

/**
 * Does what a clean-up does, or only counts it. (Reference, section 6) Dry runs count what is there before any session is found
 * to be over: the library does not tell of sessions that would be ended and removed at once.
 */
export function clean(model: Model, stored: Stored, dryRun: boolean): Cleaned {
  const { now, sessions } = model;
  const over = sessions.filter((session) => session.state === 'active' && model.isOver(session));
  const families = sessions.filter((session) => session.absoluteEnd <= now);
  const tokens = families.flatMap((session) => session.retired.filter((token) => !token.isPruned));
  const answers = sessions.filter(
    (session) => session.answerUntil !== null && session.answerUntil <= now && (dryRun || !over.includes(session)),
  );
  const isEnded = (session: (typeof sessions)[number]): boolean =>
    session.state !== 'active' || (!dryRun && over.includes(session));
  const old = sessions.filter((one) => !one.isPruned && isEnded(one) && isTooOld(one.createdAt, now));
  const events = tooMany(model, stored);
  if (!dryRun) {
    for (const session of over) model.end(session, 'expired');
    for (const token of tokens) token.isPruned = true;
    for (const session of old) session.isPruned = true;
    for (const event of events) model.events.splice(model.events.indexOf(event), 1);
    for (const session of answers) session.answerUntil = null;
    for (const user of model.users) if (user.failures && user.failures.until <= now) user.failures = null;
  }
  return {
    expiredSessions: over.length,
    sealedAnswers: answers.length,
    refreshTokens: tokens.length,
    sessions: old.length,
    events: events.length,
  };
}

/** At the very millisecond it is, as with every other end. */
function isTooOld(at: number, now: number): boolean {
  return now - at >= RETENTION_MS;
}

/** The events that go: those that are too old, and of a user who has too many refreshes, failures, then the oldest. */
function tooMany(model: Model, { events: stored }: Stored): ModelEvent[] {
  const gone = model.events.filter(({ at }) => isTooOld(at, model.now));
  const rank = ({ name }: ModelEvent): number => (name === 'token_refresh' ? 0 : name === 'login_failure' ? 1 : 2);
  // Of two that were written within the same millisecond either may go.
  const stays = ({ user, name, at, extra }: ModelEvent): number =>
    stored.includes(eventKey(user.id, name, at, extra)) ? 1 : 0;
  for (const user of model.users) {
    const young = model.events.filter((event) => event.user === user && !gone.includes(event));
    const firstToGo = young.sort((a, b) => rank(a) - rank(b) || a.at - b.at || stays(a) - stays(b));
    gone.push(...firstToGo.slice(0, Math.max(0, young.length - model.options.maxRowsPerUser)));
  }
  return gone;
}
