import type { RotateOutcome } from '../domain/outcomes';
import type { RotateToken } from '../domain/ports/session-store';
import { ending, isOver } from '../domain/session';
import type { AuthTables } from './auth-tables';
import { eventOf, type EventWriter } from './event-writer';
import { ExchangeAtOnce } from './exchange-at-once';
import { accountFromRow, sessionFromRow } from './rows';
import type { SessionEnder, WriteEvents } from './session-ender';
import type { Database } from './sql/database';
import { firstOf, type Row, type Unit } from './sql/unit';
import { TokenExchange } from './token-exchange';
import type { UserLocks } from './user-locks';

/** A token that looks reused. It is judged in a unit of its own, which takes the user's lock first. */
type Exchange = RotateOutcome | { readonly kind: 'suspect'; readonly userId: string };

/**
 * Exchanging a refresh token for its successor.
 *
 * The live token of a family stands in its session, so one conditional update is the gate: of any number of parallel
 * presentations one changes the row, and all others find that they did not. (RFC 9700, section 4.14.2)
 */
export class TokenRotator {
  private readonly live;
  private readonly retired;
  private readonly owner;
  private readonly writes: TokenExchange;
  private readonly atOnce: ExchangeAtOnce | null;

  constructor(
    private readonly database: Database,
    tables: AuthTables,
    private readonly locks: UserLocks,
    private readonly ender: SessionEnder,
    private readonly events: EventWriter,
  ) {
    this.live = tables.selectSessionWithAccount(
      `s.{session.accessDigest} AS access_digest, s.{session.refreshExpiresAt} AS refresh_expires_at,
       s.{session.generation} AS generation`,
      'WHERE s.{session.refreshDigest} = :digest',
    );
    this.retired = tables.selectSessionWithAccount(
      `s.{session.refreshDigest} AS refresh_digest, s.{session.generation} AS generation,
       s.{session.sealedAnswer} AS sealed_answer, s.{session.sealedUntil} AS sealed_until,
       t.{refresh.generation} AS token_generation, t.{refresh.state} AS token_state, t.{refresh.retiredAt} AS retired_at`,
      'INNER JOIN {refresh} t ON t.{refresh.sessionId} = s.{session.id} WHERE t.{refresh.digest} = :digest',
    );
    this.owner = tables.statement(
      `SELECT {session.userId} AS user_id FROM {session} WHERE {session.refreshDigest} = :digest
         OR {session.id} = (SELECT {refresh.sessionId} FROM {refresh} WHERE {refresh.digest} = :digest)`,
    );
    this.writes = new TokenExchange(tables, events);
    this.atOnce = tables.dialect === 'postgres' ? new ExchangeAtOnce(tables, events) : null;
  }

  async ownerOf(digest: string): Promise<string | null> {
    const [row] = (await this.database.single(this.owner.with({ digest }))).rows;
    return row ? String(row['user_id']) : null;
  }

  async rotate(command: RotateToken): Promise<RotateOutcome> {
    const traits = { repeatable: true, writesOnce: this.atOnce !== null };
    const outcome = await this.database.atomic(
      (isUnbound) => this.exchange(command, isUnbound ? this.atOnce : null),
      traits,
    );
    if (outcome.kind !== 'suspect') return outcome;
    return this.events.revoke((write) => this.punish(command, outcome.userId, write));
  }

  private *exchange(command: RotateToken, atOnce: ExchangeAtOnce | null): Unit<Exchange> {
    if (atOnce && (yield* atOnce.attempt(command))) return { kind: 'rotated' };

    const row = yield* firstOf(this.live.with({ digest: command.presentedDigest }));
    if (!row) return yield* this.classifyRetired(command);
    const session = sessionFromRow(row);
    if (session.state !== 'active') return { kind: 'refused' };
    // A unit that is run again, because its answer was lost, finds what it has done itself.
    if (row['access_digest'] === command.accessDigest) return { kind: 'rotated' };
    if (isOver(session, command.limits, command.now)) return { kind: 'session_over', userId: session.userId };
    if (Number(row['refresh_expires_at']) <= command.now) return { kind: 'refused' };
    const account = accountFromRow(row) ?? command.account;
    if (account !== 'active') return { kind: 'user_gone', userId: session.userId, account: account ?? 'deleted' };

    const isExchanged = yield* atOnce
      ? atOnce.run(command)
      : this.writes.run(session, Number(row['generation']), command);
    // Somebody was faster: the token has been used, or the session has ended.
    return isExchanged ? { kind: 'rotated' } : yield* this.classifyRetired(command);
  }

  private *classifyRetired(command: RotateToken): Unit<Exchange> {
    const row = yield* firstOf(this.retired.with({ digest: command.presentedDigest }));
    if (!row) return { kind: 'refused' };
    const session = sessionFromRow(row);
    if (session.state !== 'active' || row['token_state'] !== 'used') return { kind: 'refused' };
    // It has been done before, as above.
    if (row['refresh_digest'] === command.refreshDigest) return { kind: 'rotated' };
    if (isOver(session, command.limits, command.now)) return { kind: 'session_over', userId: session.userId };
    if (!inGrace(row, command)) {
      // The same, and the successor has been replaced meanwhile: the pair is dead, and nobody is a thief.
      if (yield* this.isRetired(command.refreshDigest)) return { kind: 'refused' };
      return { kind: 'suspect', userId: session.userId };
    }
    const account = accountFromRow(row) ?? command.account;
    if (account !== 'active') return { kind: 'user_gone', userId: session.userId, account: account ?? 'deleted' };
    return { kind: 'replayed', sealedAnswer: String(row['sealed_answer']) };
  }

  private *isRetired(digest: string | null): Unit<boolean> {
    return digest !== null && (yield* firstOf(this.retired.with({ digest }))) !== null;
  }

  /**
   * Ends the family and every session of the user. Under the user's lock it is looked at again: of parallel replays the
   * first finds a live family, the others a dead one, which changes nothing and is told to nobody.
   */
  private *punish(command: RotateToken, userId: string, write: WriteEvents): Unit<RotateOutcome> {
    const { now, limits, client } = command;
    yield* this.locks.lock(userId);
    const active = yield* this.ender.lockActive(userId);
    const row = yield* firstOf(this.retired.with({ digest: command.presentedDigest }));
    const family = active.find((session) => session.id === row?.['id']);
    if (!row || !family) return { kind: 'refused' };

    const ended = active.map((session) => ending(session, isOver(session, limits, now) ? 'expired' : 'token_reuse'));
    yield* this.ender.mark(ended, now);
    const count = ended.filter(({ reason }) => reason === 'token_reuse').length;
    yield* write([eventOf('token_reuse', userId, client, now, { session_id: family.id, sessions_ended: count })]);
    return {
      kind: 'reused',
      session: ending(family, 'token_reuse').session,
      ended,
      usedAt: Number(row['retired_at']),
      generationsBehind: Number(row['generation']) - Number(row['token_generation']),
    };
  }
}

/** Whether a used token gets its answer again: the direct predecessor of the live one, within the window. */
function inGrace(row: Row, { grace, now }: RotateToken): boolean {
  if (!grace || row['sealed_answer'] === null) return false;
  // A window that was made shorter since acts at once.
  const until = Math.min(Number(row['sealed_until']), Number(row['retired_at']) + grace.windowMs);
  return now < until && Number(row['generation']) - Number(row['token_generation']) === 1;
}
