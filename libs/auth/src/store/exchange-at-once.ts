import type { RotateToken } from '../domain/ports/session-store';
import type { AuthTables } from './auth-tables';
import { eventOf, type EventWriter } from './event-writer';
import { unlessLate } from './sql/dialect';
import { isConnectionLost, isRolledBack } from './sql/failure';
import type { Statement } from './sql/statement';
import { rowsOf, TIME_LEFT, type Unit } from './sql/unit';
import { exchangeValues, INSERT_USED } from './token-exchange';

/** A log that is locked is not waited for any longer by who may have nothing to write to it. */
const SOON_MS = 2_000;

/**
 * An exchange in one statement (PostgreSQL): where the presented token is the live one of a session that may go on, by the
 * rules of `isOver` and `renewed`, the session gets its new tokens, the presented one is kept as used, and the log is written.
 * It tells no more than that; why nothing was done is found out by reading.
 */
export class ExchangeAtOnce {
  private readonly rotating: Statement;
  private readonly sliding: Statement;
  private readonly tellsAccount: boolean;

  constructor(
    tables: AuthTables,
    private readonly events: EventWriter,
  ) {
    this.tellsAccount = tables.account !== null;
    const end = 'LEAST(s.{session.absoluteExpiresAt}, s.{session.createdAt} + :absoluteMs)';
    const active = 'GREATEST(s.{session.lastActivity}, :now)';
    const won = (generation: string): string => `won AS (
      UPDATE {session} AS s SET {session.refreshDigest} = :next, {session.accessDigest} = :accessDigest,
        {session.refreshExpiresAt} = LEAST(:refreshExpiresAt, ${end}),
        {session.accessExpiresAt} = LEAST(:accessExpiresAt, ${end}), {session.generation} = ${generation},
        {session.lastActivity} = ${active}, {session.idleExpiresAt} = ${active}
          + LEAST(s.{session.idleExpiresAt} - s.{session.lastActivity}, :idleMs),
        {session.sealedAnswer} = :sealedAnswer, {session.sealedUntil} = :sealedUntil
      WHERE s.{session.refreshDigest} = :presented AND s.{session.state} = 'active'
        AND s.{session.refreshExpiresAt} > :now AND s.{session.idleExpiresAt} > :now
        AND s.{session.lastActivity} + :idleMs > :now AND ${end} > :now
        AND ${tables.accountOf('s.{session.userId}')} = 'active'
      RETURNING s.{session.id} AS id, s.{session.userId} AS user_id, s.{session.generation} AS generation,
        s.{session.absoluteExpiresAt} AS absolute_expires_at)`;
    const used = `used AS (
      ${INSERT_USED} SELECT :presented, id, generation - 1, 'used', CAST(:now AS bigint), absolute_expires_at FROM won RETURNING 1)`;
    const logged = `logged AS (${events.insertOfUserIn('won')} RETURNING 1)`;
    const done = (...tables: string[]): string => `SELECT id FROM won WHERE ${unlessLate(tables)}`;
    this.rotating = tables.statement(
      `WITH ${won('s.{session.generation} + 1')}, ${used}, ${logged} ${done('used', 'logged')}`,
    );
    this.sliding = tables.statement(`WITH ${won('s.{session.generation}')}, ${logged} ${done('logged')}`);
  }

  /**
   * The same before anything is known of the token. Where it fails, or takes long, it tells no more than that it was not done:
   * a log that is locked or gone must be in nobody's way who will not write to it.
   */
  *attempt(command: RotateToken): Unit<boolean> {
    try {
      return yield* this.run(command, SOON_MS);
    } catch (error) {
      if (isRolledBack(error) || isConnectionLost(error)) throw error;
      return false;
    }
  }

  /** @returns false where the token is not, or no longer, good for an exchange: nothing is changed then */
  *run(command: RotateToken, withinMs?: number): Unit<boolean> {
    const { refreshDigest, account, client, limits, now } = command;
    if (!this.tellsAccount && account !== 'active') return false;
    const statement = refreshDigest === null ? this.sliding : this.rotating;
    const query = statement.with({
      ...this.events.valuesOfUser(eventOf('token_refresh', null, client, now)),
      ...limits,
      ...exchangeValues(command),
      accessExpiresAt: now + command.accessTtlMs,
      refreshExpiresAt: now + command.refreshTtlMs,
      timeLeft: TIME_LEFT,
    });
    const won = yield* rowsOf(withinMs === undefined ? query : { ...query, withinMs });
    return won.length > 0;
  }
}
