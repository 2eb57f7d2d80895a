import { Logger } from '@nestjs/common';
import { OncePerMinute } from '../../domain/once-per-minute';
import { describeFailure } from './failure';

/** The pools of `pg`, which reports a new connection by `connect`, and of `mysql2` and `mysql`, which do by `connection`. */
interface ConnectionPool {
  on(event: 'connect' | 'connection', listener: (connection: object) => void): unknown;
}

/** Where TypeORM's drivers have the pool of the primary. With `replication` on MySQL there is none, but a cluster of pools. */
export interface PoolOwner {
  readonly master?: ConnectionPool;
  readonly pool?: ConnectionPool;
}

/**
 * Replaces the connections of a pool when one of them turns out to lead to a server that takes no writes: the others were
 * opened to the same server. Each is replaced when it is next used. Until that happens for the first time nothing is recorded.
 */
export class PoolRenewal {
  private readonly logger = new Logger('AuthDatabase');
  /** The connections that were opened since. */
  private opened: WeakSet<object> | null = null;
  private pool: ConnectionPool | undefined;
  private readonly limit = new OncePerMinute(performance);

  constructor(private readonly owner: PoolOwner) {}

  /** Whether the connection is one of those to replace. */
  isOutdated(connection: object): boolean {
    if (this.opened === null) return false;
    // A DataSource that was closed and opened again has another pool.
    return this.pool === this.currentPool && !this.opened.has(connection);
  }

  /** Begins, unless the connection is an older one, whose renewal has begun. */
  begin(connection: object, error: unknown): void {
    if (this.isOutdated(connection)) return;
    const { currentPool } = this;
    if (this.pool !== currentPool) this.watch(currentPool);
    if (this.pool) this.opened = new WeakSet();
    this.limit.run(() => this.logger.warn(`The connections of the pool are replaced: ${describeFailure(error)}`));
  }

  private get currentPool(): ConnectionPool | undefined {
    return this.owner.master ?? this.owner.pool;
  }

  private watch(pool: ConnectionPool | undefined): void {
    this.pool = pool;
    const keep = (connection: object): void => {
      if (this.pool === pool) this.opened?.add(connection);
    };
    pool?.on('connect', keep);
    pool?.on('connection', keep);
  }
}
