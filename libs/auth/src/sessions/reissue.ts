import { Injectable } from '@nestjs/common';
import { Clock } from '../base/clock';
import { Database } from '../database/database';
import { forUpdate, least } from '../database/dialect';
import { columns, StatementFactory } from '../database/statements';
import { affectedBy, changeAll, firstOf, type Step } from '../database/transaction';
import { type Client, EventLog, newEvent } from '../history/event-log';
import { PASSWORD_METHOD } from '../throttle/throttle';
import type { NewTokenFamily, PairExpiries } from '../tokens/tokens';
import type { CurrentSession } from './authenticate';
import {
  expiriesFromRow,
  EXPIRY_COLUMNS,
  sessionFromRow,
  type SessionRecord,
  SessionSql,
  withProvenMethods,
} from './session';

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
      `SELECT ${sql.columns}, ${columns('session', `accessDigest methods ${EXPIRY_COLUMNS}`, 's.')}
       FROM {session} s WHERE ${active} ${forUpdate(dialect)}`,
    );
    this.replace = statements.statement(
      `UPDATE {session} AS s SET {session.accessDigest} = :accessDigest, {session.refreshDigest} = :refreshDigest,
         {session.accessExpiresAt} = ${least(dialect, ':accessExpiresAt', absoluteEnd)},
         {session.refreshExpiresAt} = ${least(dialect, ':refreshExpiresAt', absoluteEnd)},
         {session.familyDigest} = :familyDigest, {session.generation} = 0, {session.authenticatedAt} = :now,
         {session.methods} = :methods,
         {session.replaySeed} = NULL, {session.replayUntil} = NULL, {session.firstUsedAt} = NULL
       WHERE ${active} AND s.{session.accessDigest} = :accessDigestRead AND s.{session.methods} = :methodsRead`,
    );
  }

  /**
   * Issues a new pair to the session in which the user changes the password. The transaction holds the user's lock.
   * Returns null if the session has ended.
   */
  *reissue(id: string, issued: NewTokenFamily, now: number): Step<ReissuedSession | null> {
    const before = yield* firstOf(this.read.with({ id }));
    if (!before) return null;
    const methodsRead = String(before['methods']);
    const guard = { methodsRead, accessDigestRead: before['access_digest'] };
    const methods = withProvenMethods(methodsRead, [PASSWORD_METHOD], now);
    yield* changeAll(this.replace.with({ ...issued, ...guard, id, now, methods }), 1);
    const row = (yield* firstOf(this.read.with({ id })))!;
    return { session: sessionFromRow(row), ...expiriesFromRow(row) };
  }

  /** Issues a new pair in its own transaction. Returns null if the given access token is no longer live. */
  reissueAfterReauthentication(
    current: CurrentSession,
    issued: NewTokenFamily,
    proven: readonly string[],
    client: Client,
  ): Promise<PairExpiries | null> {
    const reissue = (): Step<PairExpiries | null> => this.reissueIfLive(current, issued, proven, client);
    return this.database.transaction(null, reissue, { retryUnknownCommit: true });
  }

  private *reissueIfLive(
    { id, userId, accessDigest, methods }: CurrentSession,
    issued: NewTokenFamily,
    proven: readonly string[],
    client: Client,
  ): Step<PairExpiries | null> {
    const now = this.clock.now();
    for (let methodsRead = methods; ;) {
      const guard = { methodsRead, accessDigestRead: accessDigest };
      const values = { ...issued, ...guard, id, now, methods: withProvenMethods(methodsRead, proven, now) };
      const isReplaced = (yield* affectedBy(this.replace.with(values))) === 1;
      if (isReplaced) yield* this.events.write([newEvent('reauthentication', userId, client, now)]);
      const row = yield* firstOf(this.read.with({ id }));
      // Otherwise, an earlier run of this transaction, whose result was lost, may have replaced the tokens.
      if (row && (isReplaced || row['access_digest'] === issued.accessDigest)) return expiriesFromRow(row);
      // If only the methods have changed since they were read, repeat with the stored methods.
      if (row?.['access_digest'] !== accessDigest || row['methods'] === methodsRead) return null;
      methodsRead = String(row['methods']);
    }
  }
}
