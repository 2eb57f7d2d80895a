import type { NewAuthEvent } from '../domain/auth-event';
import type { AuthTables } from './auth-tables';
import type { EventWriter } from './event-writer';
import { unlessLate } from './sql/dialect';
import type { Statement } from './sql/statement';
import { affectedBy, firstOf, TIME_LEFT, type Unit } from './sql/unit';

/** The session after an exchange, and what of it is checked. */
export interface ExchangedSession {
  readonly id: string;
  /** The digest of the live token: only if it still is does the exchange happen. */
  readonly presented: string;
  /** The digest of its successor: the same one where tokens are not rotated. */
  readonly next: string;
  readonly accessDigest: string;
  readonly accessExpiresAt: number;
  readonly refreshExpiresAt: number;
  readonly lastActivity: number;
  readonly idleExpiresAt: number;
  readonly absoluteExpiresAt: number;
  /** Of the token that was presented. */
  readonly generation: number;
  readonly sealedAnswer: string | null;
  readonly sealedUntil: number | null;
}

/**
 * The writes of an exchange: the session gets its new tokens if the presented one still is the live one, that one is kept
 * as used, and the log is written. PostgreSQL does it in one statement; elsewhere it is three, in a transaction.
 */
export class TokenExchange {
  private readonly renew: Statement;
  private readonly insertUsed: Statement;
  private readonly atOnce: { readonly rotating: Statement; readonly sliding: Statement } | null;

  constructor(
    tables: AuthTables,
    private readonly events: EventWriter,
  ) {
    const renew = `UPDATE {session} SET {session.refreshDigest} = :next, {session.refreshExpiresAt} = :refreshExpiresAt,
         {session.accessDigest} = :accessDigest, {session.accessExpiresAt} = :accessExpiresAt,
         {session.generation} = :nextGeneration, {session.lastActivity} = :lastActivity,
         {session.idleExpiresAt} = :idleExpiresAt, {session.sealedAnswer} = :sealedAnswer,
         {session.sealedUntil} = :sealedUntil
       WHERE {session.id} = :id AND {session.state} = 'active' AND {session.refreshDigest} = :presented`;
    const used = `INSERT INTO {refresh} ({refresh.digest}, {refresh.sessionId}, {refresh.generation}, {refresh.state},
         {refresh.retiredAt}, {refresh.expiresAt})`;
    this.renew = tables.statement(renew);
    this.insertUsed = tables.statement(
      `${used} VALUES (:presented, :id, :generation, 'used', :now, :absoluteExpiresAt)`,
    );
    const won = `WITH won AS (${renew} RETURNING {session.id} AS id)`;
    const kept = `used AS (${used} SELECT :presented, id, CAST(:generation AS integer), 'used', CAST(:now AS bigint),
       CAST(:absoluteExpiresAt AS bigint) FROM won RETURNING 1)`;
    const logged = `logged AS (${events.insertOfSessionsIn('won')} RETURNING 1)`;
    this.atOnce =
      tables.dialect === 'postgres'
        ? {
            rotating: tables.statement(
              `${won}, ${kept}, ${logged} SELECT id FROM won WHERE ${unlessLate(['used', 'logged'])}`,
            ),
            sliding: tables.statement(`${won}, ${logged} SELECT id FROM won WHERE ${unlessLate(['logged'])}`),
          }
        : null;
  }

  /** Whether it is one statement, which needs no transaction. */
  get isOneWrite(): boolean {
    return this.atOnce !== null;
  }

  /** @returns false where somebody was faster: nothing is changed then */
  *run(session: ExchangedSession, event: NewAuthEvent): Unit<boolean> {
    const isRotated = session.next !== session.presented;
    const nextGeneration = isRotated ? session.generation + 1 : session.generation;
    const values = { ...session, nextGeneration, now: event.at, timeLeft: TIME_LEFT };
    if (this.atOnce) {
      const statement = isRotated ? this.atOnce.rotating : this.atOnce.sliding;
      const told = this.events.valuesOfSessions([{ event, sessionId: session.id }]);
      return (yield* firstOf(statement.with({ ...values, ...told }))) !== null;
    }
    if ((yield* affectedBy(this.renew.with(values))) === 0) return false;
    if (isRotated) yield* affectedBy(this.insertUsed.with(values));
    yield* this.events.write([event]);
    return true;
  }
}
