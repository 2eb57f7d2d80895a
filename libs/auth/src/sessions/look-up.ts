import { Injectable } from '@nestjs/common';
import type { AccountStatus, RequestUser } from '../adapters/user-store';
import { Metrics } from '../base/telemetry';
import { BatchingLoader } from '../database/batching-loader';
import { Database } from '../database/database';
import { least } from '../database/dialect';
import { columns, type Statement, StatementFactory } from '../database/statements';
import type { Row } from '../database/transaction';
import { Users, type UserSql } from '../users/users';
import { PROOF_COLUMNS, proofsFromRow, type StoredProofs } from './proofs';
import { accountFromRow, sessionFromRow, type SessionRecord, SessionSql } from './session';

/** A session and the account of its user. */
export interface SessionLookup {
  readonly session: SessionRecord;
  /** The status of the account, or null if only the user store can read the status. */
  readonly account: AccountStatus | null;
}

/** The account of a session's user. */
export interface AccountOfSession extends Pick<SessionLookup, 'account'> {
  readonly userId: string;
  /** Returns a new object for `request.user`. Undefined if the statement did not read the user. */
  readonly readUser?: () => RequestUser;
}

/** What a guarded request reads of a session whose state is `active`. Instants are in milliseconds. */
export interface SessionWithAccessToken extends AccountOfSession, StoredProofs {
  readonly id: string;
  readonly accessDigest: string;
  /** When the access token or the session expires, whichever is earlier. */
  readonly validUntil: number;
  readonly lastActivity: number;
  readonly authenticatedAt: number;
  /** The end of the grace period, or 0 without a grace period or if the first use of the access token is stored. */
  readonly replayUntil: number;
}

/** A session and the digest of the secret of its current token family. */
interface SessionWithFamily extends SessionLookup, StoredProofs {
  readonly familyDigest: string;
}

/**
 * The sizes of IN lists for databases that cannot pass a list as one parameter. A shorter list is padded
 * with its first id.
 */
const LIST_SIZES = [8, 32, 128];

/** Reads single sessions, and records the first use of access tokens. */
@Injectable()
export class LookUp {
  private readonly loader = new BatchingLoader<SessionWithAccessToken>((ids) => this.findMany(ids));
  private readonly lookups: readonly { readonly size: number; readonly statement: Statement }[];
  private readonly user: UserSql | null;
  private readonly family;
  private readonly markUsed;
  private readonly byIds;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    sql: SessionSql,
    users: Users,
    private readonly metrics: Metrics,
  ) {
    this.user = users.sql?.user ?? null;
    const own = columns('session', `id userId accessDigest lastActivity authenticatedAt ${PROOF_COLUMNS}`, 's.');
    const validUntil = least(statements.dialect, 's.{session.accessExpiresAt}', sql.expiresAt);
    const select = (condition: string): Statement =>
      statements.prepared(
        `SELECT ${own}, ${validUntil} AS valid_until,
           CASE WHEN s.{session.firstUsedAt} IS NULL THEN s.{session.replayUntil} END AS replay_until,
           ${this.user?.columns ?? `${sql.account} AS account`}
         FROM {session} s ${this.user?.join ?? ''} WHERE s.{session.id} ${condition} AND s.{session.state} = 'active'`,
      );
    const one = { size: 1, statement: select('= :id') };
    // PostgreSQL plans a list of unknown length at each run, which costs more than a lookup of one id.
    this.lookups =
      statements.dialect === 'postgres'
        ? [one, { size: Infinity, statement: select('= ANY(:ids)') }]
        : [one, ...LIST_SIZES.map((size) => ({ size, statement: select('IN (:ids...)') }))];
    this.family = statements.statement(
      `SELECT ${sql.columnsWithAccount}, ${columns('session', `familyDigest ${PROOF_COLUMNS}`, 's.')}
       FROM {session} s WHERE s.{session.id} = :id AND s.{session.state} = 'active'`,
    );
    this.markUsed = statements.prepared(
      `UPDATE {session} SET {session.firstUsedAt} = :now
       WHERE {session.id} = :id AND {session.accessDigest} = :accessDigest AND {session.state} = 'active'
         AND {session.firstUsedAt} IS NULL`,
    );
    this.byIds = sql.selectWithAccount(`WHERE s.{session.id} IN (:ids...) AND s.{session.state} = 'active'`);
  }

  /**
   * Returns the session with this id if its state is `active`. It may have expired. Requests that arrive while a read
   * is in flight wait briefly and share further reads: see `BatchingLoader`.
   */
  find(id: string): Promise<SessionWithAccessToken | null> {
    return this.loader.get(id);
  }

  /** Returns the session with this id and its token family if its state is `active`. It may have expired. */
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

  /**
   * Stores that an access token was used. Returns false if the first use of the token is already stored, if the token
   * was replaced, or if the session has ended.
   */
  async markFirstUse(id: string, accessDigest: string, now: number): Promise<boolean> {
    return (await this.database.run(null, this.markUsed.with({ id, accessDigest, now }))).affected === 1;
  }

  /** Returns the given sessions whose state is `active`. Some of them may have expired. Accepts at most 1,000 ids. */
  async findActive(ids: readonly string[]): Promise<readonly SessionLookup[]> {
    const { rows } = await this.database.run(null, this.byIds.with({ ids }));
    return rows.map((row) => ({ session: sessionFromRow(row), account: accountFromRow(row) }));
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
    id: String(row['id']),
    userId: String(row['user_id']),
    accessDigest: String(row['access_digest']),
    validUntil: Number(row['valid_until']),
    lastActivity: Number(row['last_activity']),
    authenticatedAt: Number(row['authenticated_at']),
    replayUntil: Number(row['replay_until'] ?? 0),
    account: accountFromRow(row),
    ...proofsFromRow(row),
  };
  return user ? { ...found, readUser: () => user.fromRow(row) } : found;
}
