import { Injectable } from '@nestjs/common';
import { Metrics } from '../../domain/ports/platform';
import type { SessionLookup, SessionWithAccessToken, SessionWithFamily, Touch } from '../../domain/ports/sessions';
import { SessionStore } from '../../domain/ports/sessions';
import type { SessionRecord } from '../../domain/session';
import { BatchingLoader } from '../database/batching-loader';
import { Database } from '../database/database';
import { accountFromRow, PROOF_COLUMNS, proofsFromRow, sessionFromRow } from '../database/rows';
import { columns, type Statement } from '../database/statement';
import { StatementFactory, type UserSql } from '../database/statement-factory';
import type { Row } from '../database/transaction';
import { ActivityWriter } from './activity-writer';

/**
 * The sizes of IN lists for databases that cannot pass a list as one parameter. A shorter list is padded
 * with its first id.
 */
const LIST_SIZES = [8, 32, 128];

/** Reads sessions and stores their activity in the application's database. */
@Injectable()
export class SqlSessionStore extends SessionStore {
  private readonly loader = new BatchingLoader<SessionWithAccessToken>((ids) => this.findMany(ids));
  private readonly lookups: readonly { readonly size: number; readonly statement: Statement }[];
  private readonly user: UserSql | null;
  private readonly family;
  private readonly markUsed;
  private readonly byUser;
  private readonly byIds;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    private readonly metrics: Metrics,
    private readonly activity: ActivityWriter,
  ) {
    super();
    this.user = statements.account?.user ?? null;
    const { sessionColumns, sessionAndAccountColumns } = statements;
    const read = this.user ? `${sessionColumns}, ${this.user.columns}` : sessionAndAccountColumns;
    const select = (condition: string): Statement =>
      statements.prepared(
        `SELECT ${read}, ${columns('session', `accessDigest accessExpiresAt ${PROOF_COLUMNS}`, 's.')},
           CASE WHEN s.{session.firstUsedAt} IS NULL THEN s.{session.replayUntil} END AS replay_until
         FROM {session} s ${this.user?.join ?? ''} WHERE s.{session.id} ${condition} AND s.{session.state} = 'active'`,
      );
    const one = { size: 1, statement: select('= :id') };
    // PostgreSQL plans a list of unknown length at each run, which costs more than a lookup of one id.
    this.lookups =
      statements.dialect === 'postgres'
        ? [one, { size: Infinity, statement: select('= ANY(:ids)') }]
        : [one, ...LIST_SIZES.map((size) => ({ size, statement: select('IN (:ids...)') }))];
    this.family = statements.statement(
      `SELECT ${statements.sessionAndAccountColumns}, ${columns('session', `familyDigest ${PROOF_COLUMNS}`, 's.')}
       FROM {session} s WHERE s.{session.id} = :id AND s.{session.state} = 'active'`,
    );
    this.markUsed = statements.prepared(
      `UPDATE {session} SET {session.firstUsedAt} = :now
       WHERE {session.id} = :id AND {session.accessDigest} = :accessDigest AND {session.state} = 'active'
         AND {session.firstUsedAt} IS NULL`,
    );
    this.byUser = statements.selectSession(
      `WHERE s.{session.userId} = :userId AND s.{session.state} = 'active'
       ORDER BY s.{session.createdAt} DESC, s.{session.id} DESC`,
    );
    this.byIds = statements.selectSessionWithAccount(
      `WHERE s.{session.id} IN (:ids...) AND s.{session.state} = 'active'`,
    );
  }

  /**
   * Reads a session. Requests that arrive while a read is in flight wait briefly and share further
   * reads: see `BatchingLoader`.
   */
  find(id: string): Promise<SessionWithAccessToken | null> {
    return this.loader.get(id);
  }

  async findFamily(id: string): Promise<SessionWithFamily | null> {
    const [row] = await this.database.read(this.family.with({ id }));
    if (!row) return null;
    return {
      session: sessionFromRow(row),
      account: accountFromRow(row),
      familyDigest: String(row['family_digest']),
      ...proofsFromRow(row),
    };
  }

  async markFirstUse(id: string, accessDigest: string, now: number): Promise<boolean> {
    return (await this.database.autocommit(this.markUsed.with({ id, accessDigest, now }))).affected === 1;
  }

  async listActive(userId: string): Promise<readonly SessionRecord[]> {
    return (await this.database.autocommit(this.byUser.with({ userId }))).rows.map(sessionFromRow);
  }

  async findActive(ids: readonly string[]): Promise<readonly SessionLookup[]> {
    const { rows } = await this.database.autocommit(this.byIds.with({ ids }));
    return rows.map((row) => ({ session: sessionFromRow(row), account: accountFromRow(row) }));
  }

  touch(touches: readonly Touch[]): Promise<readonly Touch[]> {
    return this.activity.write(touches);
  }

  private async findMany(ids: readonly string[]): Promise<ReadonlyMap<string, SessionWithAccessToken>> {
    this.metrics.record('session_auth.lookup.batch_size', ids.length);
    const { size, statement } = this.lookups.find((lookup) => lookup.size >= ids.length)!;
    const list = size <= 1 || size === Infinity ? ids : Array.from({ length: size }, (_, i) => ids[i] ?? ids[0]);
    const rows = await this.database.read(statement.with({ id: ids[0], ids: list }));
    const found = new Map<string, SessionWithAccessToken>();
    for (const row of rows) found.set(String(row['id']), sessionWithAccessToken(row, this.user));
    return found;
  }
}

function sessionWithAccessToken(row: Row, user: UserSql | null): SessionWithAccessToken {
  const found = {
    session: sessionFromRow(row),
    account: accountFromRow(row),
    accessDigest: String(row['access_digest']),
    accessExpiresAt: Number(row['access_expires_at']),
    replayUntil: Number(row['replay_until'] ?? 0),
    ...proofsFromRow(row),
  };
  return user ? { ...found, readUser: () => user.fromRow(row) } : found;
}
