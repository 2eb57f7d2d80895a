import { PruningStore, type HistoryCaps, type Prunable } from '../domain/ports/pruning-store';
import { ending, type EndedSession } from '../domain/session';
import type { AuthTables } from './auth-tables';
import { HistoryTrimmer } from './history-trimmer';
import { RowRemover } from './row-remover';
import { sessionFromRow } from './rows';
import type { SessionEnder } from './session-ender';
import type { Database } from './sql/database';
import { forUpdateOfFree } from './sql/dialect';
import type { Query } from './sql/unit';
import { affectedBy, rowsOf, type Unit } from './sql/unit';
import type { UserLocks } from './user-locks';

/** Clean-up on the host's DataSource. */
export class TypeOrmPruningStore extends PruningStore {
  private readonly over;
  private readonly overCount;
  private readonly sealed;
  private readonly sealedCount;
  private readonly anySealed;
  private readonly eraseSealed;
  private readonly removers: Readonly<Record<Prunable, RowRemover>>;
  private readonly trimmer: HistoryTrimmer;

  constructor(
    private readonly database: Database,
    tables: AuthTables,
    locks: UserLocks,
    private readonly ender: SessionEnder,
  ) {
    super();
    const free = forUpdateOfFree(tables.dialect);
    // One statement for each end, so that each has its index.
    this.over = ['idleExpiresAt', 'absoluteExpiresAt'].map((end) =>
      tables.selectSession(`WHERE s.{session.state} = 'active' AND s.{session.${end}} <= :now LIMIT :most ${free}`),
    );
    this.overCount = tables.statement(
      `SELECT COUNT(*) AS total FROM {session} WHERE {session.state} = 'active'
         AND ({session.idleExpiresAt} <= :now OR {session.absoluteExpiresAt} <= :now)`,
    );
    const sealed = 'FROM {session} WHERE {session.sealedUntil} <= :now';
    this.sealed = tables.statement(`SELECT {session.id} AS id ${sealed} LIMIT :most ${free}`);
    this.anySealed = tables.statement(
      'SELECT {session.sealedUntil} AS one FROM {session} WHERE {session.sealedUntil} > 0 LIMIT 1',
    );
    this.sealedCount = tables.statement(`SELECT COUNT(*) AS total ${sealed}`);
    this.eraseSealed = tables.statement(
      'UPDATE {session} SET {session.sealedAnswer} = NULL, {session.sealedUntil} = NULL WHERE {session.id} IN (:ids...)',
    );
    this.removers = {
      refreshTokens: new RowRemover(tables, 'refreshTokens'),
      sessions: new RowRemover(tables, 'sessions'),
      events: new RowRemover(tables, 'events'),
      loginFailures: new RowRemover(tables, 'loginFailures'),
      passwordResets: new RowRemover(tables, 'passwordResets'),
    };
    this.trimmer = new HistoryTrimmer(tables, locks);
  }

  expire(now: number, most: number): Promise<readonly EndedSession[]> {
    return this.database.atomic(() => this.expireBatch(now, most));
  }

  eraseSealedAnswers(now: number, most: number): Promise<number> {
    return this.database.atomic(() => this.eraseBatch(now, most));
  }

  async hasSealedAnswers(): Promise<boolean> {
    return (await this.database.single(this.anySealed.with({}))).rows.length > 0;
  }

  remove(what: Prunable, before: number, most: number): Promise<number> {
    return this.database.atomic(() => this.removers[what].remove(before, most));
  }

  async usersOverCap(cap: number, after: string, most: number): Promise<readonly string[]> {
    const { rows } = await this.database.single(this.trimmer.usersOverCap(cap, after, most));
    return rows.map((row) => String(row['user_id']));
  }

  trim(userId: string | null, cap: number, most: number): Promise<number> {
    return this.database.atomic(() => this.trimmer.trim(userId, cap, most));
  }

  countExpired(now: number): Promise<number> {
    return this.total(this.overCount.with({ now }));
  }

  countSealedAnswers(now: number): Promise<number> {
    return this.total(this.sealedCount.with({ now }));
  }

  count(what: Prunable, before: number): Promise<number> {
    return this.total(this.removers[what].counting(before));
  }

  async countOverCap(before: number, { perUser, withoutUser }: HistoryCaps): Promise<number> {
    const ofNobody = await this.total(this.trimmer.countingOfNobody(before));
    return (await this.total(this.trimmer.counting(before, perUser))) + Math.max(0, ofNobody - withoutUser);
  }

  /** No user's lock is needed, since nothing here waits: whoever has a session locked is dealing with it. */
  private *expireBatch(now: number, most: number): Unit<readonly EndedSession[]> {
    const found = new Map<string, EndedSession>();
    for (const statement of this.over) {
      for (const row of yield* rowsOf(statement.with({ now, most }))) {
        const session = sessionFromRow(row);
        found.set(session.id, ending(session, 'expired'));
      }
    }
    const ended = [...found.values()];
    yield* this.ender.mark(ended, now);
    return ended;
  }

  private *eraseBatch(now: number, most: number): Unit<number> {
    const ids = (yield* rowsOf(this.sealed.with({ now, most }))).map((row) => row['id']);
    return ids.length === 0 ? 0 : yield* affectedBy(this.eraseSealed.with({ ids }));
  }

  private async total(query: Query): Promise<number> {
    return Number((await this.database.single(query)).rows[0]?.['total']);
  }
}
