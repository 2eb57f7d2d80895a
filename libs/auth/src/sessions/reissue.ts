import { Injectable } from '@nestjs/common';
import { Clock } from '../base/clock';
import { Database } from '../database/database';
import { least } from '../database/dialect';
import { columns, type ParameterValues, StatementFactory } from '../database/statements';
import { changeAll, firstOf, type Row, type Step } from '../database/transaction';
import type { Client } from '../history/client';
import { EventLog, newEvent } from '../history/event-log';
import { PASSWORD_METHOD } from '../throttle/limits';
import type { NewTokenFamily, PairExpiries } from '../tokens/tokens';
import type { CurrentSession } from './authenticate';
import { GuardedUpdate } from './guarded-update';
import { withProvenMethods } from './proofs';
import { expiriesFromRow, EXPIRY_COLUMNS, sessionFromRow, type SessionRecord, SessionSql } from './session';

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
  private readonly readMethods;
  private readonly readReissued;
  private readonly reissueIfLive: GuardedUpdate;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    sql: SessionSql,
    events: EventLog,
    private readonly clock: Clock,
  ) {
    const { absoluteEnd } = sql;
    const { dialect } = statements;
    const assignments = `{session.accessDigest} = :accessDigest, {session.refreshDigest} = :refreshDigest,
       {session.accessExpiresAt} = ${least(dialect, ':accessExpiresAt', absoluteEnd)},
       {session.refreshExpiresAt} = ${least(dialect, ':refreshExpiresAt', absoluteEnd)},
       {session.familyDigest} = :familyDigest, {session.generation} = 0, {session.authenticatedAt} = :now,
       {session.methods} = :methods,
       {session.replaySeed} = NULL, {session.replayUntil} = NULL, {session.firstUsedAt} = NULL`;
    const active = `s.{session.id} = :id AND s.{session.state} = 'active'`;
    const asRead = 's.{session.methods} = :methodsRead';
    this.replace = statements.statement(`UPDATE {session} AS s SET ${assignments} WHERE ${active} AND ${asRead}`);
    this.readMethods = statements.statement(`SELECT s.{session.methods} AS methods FROM {session} s WHERE ${active}`);
    const expiries = columns('session', EXPIRY_COLUMNS, 's.');
    this.read = statements.statement(`SELECT ${sql.columns}, ${expiries} FROM {session} s WHERE ${active}`);
    this.readReissued = statements.statement(
      `SELECT ${expiries}, ${columns('session', 'accessDigest methods', 's.')} FROM {session} s WHERE ${active}`,
    );
    this.reissueIfLive = new GuardedUpdate(
      database,
      statements,
      events,
      `${assignments} WHERE ${active} AND s.{session.accessDigest} = :currentAccessDigest AND ${asRead}`,
      { columns: expiries, everywhere: true },
    );
  }

  /**
   * Issues a new pair to the session in which the user changes the password. Runs in a
   * transaction that holds the user's lock. Returns null if the session has ended.
   */
  *reissue(id: string, issued: NewTokenFamily, now: number): Step<ReissuedSession | null> {
    const before = yield* firstOf(this.readMethods.with({ id }));
    if (!before) return null;
    yield* changeAll(this.replace.with({ ...issued, id, now, ...proofValues(before, [PASSWORD_METHOD], now) }), 1);
    const row = yield* firstOf(this.read.with({ id }));
    return row && { session: sessionFromRow(row), ...expiriesFromRow(row) };
  }

  /** Issues a new pair in its own transaction. Returns null if the given access token is no longer live. */
  async reissueAfterReauthentication(
    { id, userId, accessDigest, ...stored }: CurrentSession,
    issued: NewTokenFamily,
    proven: readonly string[],
    client: Client,
  ): Promise<PairExpiries | null> {
    const now = this.clock.now();
    const event = newEvent('reauthentication', userId, client, now);
    const values = { ...issued, id, currentAccessDigest: accessDigest, now };
    for (let before: Row = stored; ;) {
      const row = await this.reissueIfLive.run({ ...values, ...proofValues(before, proven, now) }, event);
      if (row) return expiriesFromRow(row);
      const [found] = (await this.database.run(null, this.readReissued.with({ id }))).rows;
      // An earlier run of this call, whose result was lost, has replaced the tokens.
      if (found?.['access_digest'] === issued.accessDigest) return expiriesFromRow(found);
      // If the methods have changed since they were read, repeat with the stored methods.
      if (found?.['access_digest'] !== accessDigest || found['methods'] === before['methods']) return null;
      before = found;
    }
  }
}

/** Returns the parameters that add proven methods. */
function proofValues({ methods }: Row, proven: readonly string[], now: number): ParameterValues {
  return { methods: withProvenMethods(methods as string, proven, now), methodsRead: methods };
}
