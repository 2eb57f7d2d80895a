import { Logger } from '@nestjs/common';
import { OncePerMinute } from '../base/clock';
import { describeFailure } from './failure';

/**
 * The part of a pool that the library uses. For a new connection, `pg` emits `connect`. `mysql2` and `mysql`
 * emit `connection`.
 */
interface ConnectionPool {
  on(event: 'connect' | 'connection', listener: (connection: object) => void): unknown;
}

/**
 * The pools of TypeORM's drivers for the primary. With `replication` on MySQL and MariaDB, the driver
 * has a pool cluster instead.
 */
export interface PoolOwner {
  readonly master?: ConnectionPool;
  readonly pool?: ConnectionPool;
}

/**
 * Replaces the connections of a pool after one of them has led to a server that does not accept writes,
 * because the other connections may lead to the same server. Each connection is replaced when the library
 * next obtains it. Connections are not tracked before the first renewal.
 */
export class PoolRenewal {
  private readonly logger = new Logger('AuthDatabase');
  /** The connections that were opened since the last renewal. */
  private openedSinceRenewal: WeakSet<object> | null = null;
  private pool: ConnectionPool | undefined;
  private readonly limit = new OncePerMinute(performance);

  constructor(private readonly owner: PoolOwner) {}

  /** Returns whether the connection was opened before the last renewal and must be replaced. */
  isOutdated(connection: object): boolean {
    if (this.openedSinceRenewal === null) return false;
    // A DataSource that was closed and opened again has a new pool.
    return this.pool === this.currentPool && !this.openedSinceRenewal.has(connection);
  }

  /** Starts a renewal. Does nothing with a pool cluster, or if a renewal has made the connection outdated. */
  begin(connection: object, error: unknown): void {
    if (this.isOutdated(connection)) return;
    const { currentPool } = this;
    if (this.pool !== currentPool) this.watch(currentPool);
    if (!this.pool) return;
    this.openedSinceRenewal = new WeakSet();
    this.limit.run(() => this.logger.warn(`Replacing all connections of the pool: ${describeFailure(error)}`));
  }

  private get currentPool(): ConnectionPool | undefined {
    return this.owner.master ?? this.owner.pool;
  }

  private watch(pool: ConnectionPool | undefined): void {
    this.pool = pool;
    const recordConnection = (connection: object): void => {
      if (this.pool === pool) this.openedSinceRenewal?.add(connection);
    };
    pool?.on('connect', recordConnection);
    pool?.on('connection', recordConnection);
  }
}
