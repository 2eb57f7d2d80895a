import type { RotateToken } from '../domain/ports/session-store';
import { absoluteEnd, renewed, type SessionRecord } from '../domain/session';
import type { AuthTables } from './auth-tables';
import { eventOf, type EventWriter } from './event-writer';
import type { Statement } from './sql/statement';
import { affectedBy, type Unit } from './sql/unit';

/** The row of a used token; what follows says where from. */
export const INSERT_USED = `INSERT INTO {refresh} ({refresh.digest}, {refresh.sessionId}, {refresh.generation}, {refresh.state},
  {refresh.retiredAt}, {refresh.expiresAt})`;

/** What an exchange writes, but for the ends of the new tokens. */
export function exchangeValues({ presentedDigest, refreshDigest, accessDigest, grace, now }: RotateToken): {
  readonly [name: string]: string | number | null;
} {
  return {
    presented: presentedDigest,
    next: refreshDigest ?? presentedDigest,
    accessDigest,
    sealedAnswer: grace?.sealedAnswer ?? null,
    sealedUntil: grace ? now + grace.windowMs : null,
    now,
  };
}

/**
 * The writes of an exchange, which has been found to be right: the session gets its new tokens if the presented one still is
 * the live one, that one is kept as used, and the log is written.
 */
export class TokenExchange {
  private readonly renew: Statement;
  private readonly insertUsed: Statement;

  constructor(
    tables: AuthTables,
    private readonly events: EventWriter,
  ) {
    this.renew = tables.statement(
      `UPDATE {session} SET {session.refreshDigest} = :next, {session.refreshExpiresAt} = :refreshExpiresAt,
         {session.accessDigest} = :accessDigest, {session.accessExpiresAt} = :accessExpiresAt,
         {session.generation} = :nextGeneration, {session.lastActivity} = :lastActivity,
         {session.idleExpiresAt} = :idleExpiresAt, {session.sealedAnswer} = :sealedAnswer,
         {session.sealedUntil} = :sealedUntil
       WHERE {session.id} = :id AND {session.state} = 'active' AND {session.refreshDigest} = :presented`,
    );
    this.insertUsed = tables.statement(
      `${INSERT_USED} VALUES (:presented, :id, :generation, 'used', :now, :absoluteExpiresAt)`,
    );
  }

  /**
   * @param generation of the presented token
   * @returns false where somebody was faster: nothing is changed then
   */
  *run(session: SessionRecord, generation: number, command: RotateToken): Unit<boolean> {
    const { refreshDigest, client, limits, now } = command;
    const end = absoluteEnd(session, limits);
    const values = {
      ...renewed(session, limits, now),
      ...exchangeValues(command),
      accessExpiresAt: Math.min(now + command.accessTtlMs, end),
      refreshExpiresAt: Math.min(now + command.refreshTtlMs, end),
      generation,
      nextGeneration: refreshDigest === null ? generation : generation + 1,
    };
    if ((yield* affectedBy(this.renew.with(values))) === 0) return false;
    if (refreshDigest !== null) yield* affectedBy(this.insertUsed.with(values));
    yield* this.events.write([eventOf('token_refresh', session.userId, client, now)]);
    return true;
  }
}
