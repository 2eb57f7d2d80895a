import { Injectable } from '@nestjs/common';
import { Clock } from '../base/clock';
import { Database } from '../database/database';
import { forUpdate } from '../database/dialect';
import { columns, StatementFactory } from '../database/statements';
import { changeAll, firstOf, type Row, type Step } from '../database/transaction';
import { type Client, EventLog, newEvent } from '../history/event-log';
import { PASSWORD_METHOD } from '../throttle/throttle';
import type { NewTokenFamily, PairExpiries } from '../tokens/tokens';
import type { CurrentSession } from './authenticate';
import { expiriesOf } from './rotate';
import { sessionFromRow, type SessionRecord, SessionSql, withProvenMethods } from './session';

/** A session that continues with a new token pair. */
export interface ReissuedSession extends PairExpiries {
  readonly session: SessionRecord;
}

/**
 * Issues a token pair of a new family to an active session whose user has proven their identity. The previous refresh
 * token counts as revoked rather than used, so presenting it is not reuse.
 */
@Injectable()
export class Reissue {
  private readonly replace;
  private readonly read;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    sql: SessionSql,
    private readonly events: EventLog,
    private readonly clock: Clock,
  ) {
    const { absoluteEnd } = sql;
    const { dialect } = statements;
    const active = `s.{session.id} = :id AND s.{session.state} = 'active'`;
    this.read = statements.statement(
      `SELECT ${sql.columns}, ${columns('session', 'accessDigest methods', 's.')}, ${absoluteEnd} AS absolute_end
       FROM {session} s WHERE ${active} ${forUpdate(dialect)}`,
    );
    this.replace = statements.statement(
      `UPDATE {session} AS s SET {session.accessDigest} = :accessDigest, {session.refreshDigest} = :refreshDigest,
         {session.accessExpiresAt} = :accessExpiresAt, {session.refreshExpiresAt} = :refreshExpiresAt,
         {session.familyDigest} = :familyDigest, {session.generation} = 0, {session.authenticatedAt} = :now,
         {session.methods} = :methods,
         {session.replaySeed} = NULL, {session.replayUntil} = NULL, {session.firstUsedAt} = NULL
       WHERE ${active} AND s.{session.accessDigest} = :accessDigestRead AND s.{session.methods} = :methodsRead`,
    );
  }

  /** Issues a new pair after a password change. Returns null if the session has ended. The user's lock must be held. */
  *reissue(id: string, issued: NewTokenFamily, now: number): Step<ReissuedSession | null> {
    const row = yield* firstOf(this.read.with({ id }));
    return row && (yield* this.replaceTokens(row, issued, [PASSWORD_METHOD], now));
  }

  /** Issues a new pair in its own transaction. Returns null if the given access token is no longer live. */
  reissueAfterReauthentication(
    { id, userId, accessDigest }: CurrentSession,
    issued: NewTokenFamily,
    proven: readonly string[],
    client: Client,
  ): Promise<PairExpiries | null> {
    const now = this.clock.now();
    const unit = function* (this: Reissue): Step<PairExpiries | null> {
      const row = yield* firstOf(this.read.with({ id }));
      // An earlier run of this transaction, whose result was lost, has replaced the tokens.
      if (row?.['access_digest'] === issued.accessDigest)
        return expiriesOf({ ...issued, absoluteEnd: Number(row['absolute_end']) });
      if (row?.['access_digest'] !== accessDigest) return null;
      const reissued = yield* this.replaceTokens(row, issued, proven, now);
      yield* this.events.write([newEvent('reauthentication', userId, client, now)]);
      return reissued;
    };
    return this.database.transaction(null, () => unit.call(this), { retryUnknownCommit: true });
  }

  private *replaceTokens(
    row: Row,
    issued: NewTokenFamily,
    proven: readonly string[],
    now: number,
  ): Step<ReissuedSession> {
    const { id, methods: methodsRead, access_digest: accessDigestRead } = row;
    const expiries = expiriesOf({ ...issued, absoluteEnd: Number(row['absolute_end']) });
    const methods = withProvenMethods(String(methodsRead), proven, now);
    const values = { ...issued, ...expiries, id, now, methods, methodsRead, accessDigestRead };
    yield* changeAll(this.replace.with(values), 1);
    return { session: sessionFromRow(row), ...expiries };
  }
}
