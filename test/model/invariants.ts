import type { Model } from './model';
import { digest, storedOf, type Rows } from './rows';
import { eventKey, type ModelSession } from './state';

/** What must hold after every step: what is stored is what the model knows, and what is dead stays dead. */
export class Invariants {
  private readonly ended = new Set<string>();
  private readonly retired = new Set<string>();

  check(rows: Rows, model: Model): void {
    this.checkDead(rows);
    expect(rows.sessions.map(sessionRow).sort(byId)).toEqual(kept(model).map(sessionOf).sort(byId));
    expect(rows.tokens.map(tokenRow).sort()).toEqual(kept(model).flatMap(tokensOf).sort());
    const events = model.events.map(({ user, name, at, extra }) => eventKey(user.id, name, at, extra));
    expect([...storedOf(rows).events].sort()).toEqual(events.sort());
  }

  /** Whatever the model says: no session and no refresh token comes back. */
  private checkDead({ sessions, tokens }: Rows): void {
    const live = sessions.filter((row) => row['state'] === 'active');
    expect(live.filter((row) => this.ended.has(String(row['id'])))).toEqual([]);
    for (const row of sessions) if (row['state'] !== 'active') this.ended.add(String(row['id']));
    for (const row of tokens) this.retired.add(String(row['digest']));
    expect(sessions.filter((row) => this.retired.has(String(row['refresh_digest'])))).toEqual([]);
  }
}

function kept({ sessions }: Model): ModelSession[] {
  return sessions.filter((session) => !session.isPruned);
}

function sessionOf(session: ModelSession): object {
  const { id, user, state, reason, createdAt, lastActivity, idleEnd, absoluteEnd, pair, generation } = session;
  return {
    id,
    user: user.id,
    state,
    reason,
    times: [createdAt, lastActivity, idleEnd, absoluteEnd, session.accessEnd, session.refreshEnd],
    generation,
    access: digest(pair.accessToken),
    refresh: digest(pair.refreshToken),
    answerUntil: session.answerUntil,
    hasAnswer: session.answerUntil !== null,
  };
}

function sessionRow(row: Rows['sessions'][number]): object {
  const times = ['created_at', 'last_activity', 'idle_expires_at', 'absolute_expires_at'];
  return {
    id: row['id'],
    user: row['user_id'],
    state: row['state'],
    reason: row['end_reason'],
    times: [...times, 'access_expires_at', 'refresh_expires_at'].map((column) => Number(row[column])),
    generation: Number(row['generation']),
    access: row['access_digest'],
    refresh: row['refresh_digest'],
    answerUntil: row['sealed_until'] === null ? null : Number(row['sealed_until']),
    hasAnswer: row['sealed_answer'] !== null,
  };
}

function tokensOf({ id, retired }: ModelSession): string[] {
  const there = retired.filter((token) => !token.isPruned);
  return there.map(({ token, generation, state, at }) => [id, generation, state, at, digest(token)].join(' '));
}

function tokenRow(row: Rows['tokens'][number]): string {
  return ['session_id', 'generation', 'state', 'retired_at', 'digest'].map((column) => String(row[column])).join(' ');
}

function byId(a: object, b: object): number {
  return (a as { id: string }).id < (b as { id: string }).id ? -1 : 1;
}
