import type { DataSource } from 'typeorm';

interface PoolConnection {
  query(sql: string, done?: (error: Error | null) => void): unknown;
}

interface Pool {
  on(event: 'connect' | 'connection', listener: () => void): unknown;
}

interface Driver {
  readonly master?: Pool;
  readonly pool?: Pool;
  obtainMasterConnection(): Promise<PoolConnection | [PoolConnection, () => void]>;
}

/**
 * A proxy that temporarily routes to a read-only server. Every connection that is used in this time refuses
 * writes from then on. Connections that are opened later lead to the primary.
 */
export class SwitchingProxy {
  /** The number of connections opened since this object was created. */
  opened = 0;
  /** Connections to the read-only server. */
  private readonly readOnly = new WeakSet<object>();
  private leadsTo: 'primary' | 'standby' | 'nothing' = 'primary';

  constructor(private readonly dataSource: DataSource) {
    const driver = dataSource.driver as unknown as Driver;
    const pool = (driver.master ?? driver.pool)!;
    for (const event of ['connect', 'connection'] as const) pool.on(event, () => this.opened++);
    const obtain = driver.obtainMasterConnection.bind(driver);
    driver.obtainMasterConnection = async () => {
      if (this.leadsTo === 'nothing') throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
      const obtained = await obtain();
      const connection = Array.isArray(obtained) ? obtained[0] : obtained;
      if (this.leadsTo === 'standby' && !this.readOnly.has(connection)) await this.makeReadOnly(connection);
      return obtained;
    };
  }

  begin(): void {
    this.leadsTo = 'standby';
  }

  end(): void {
    this.leadsTo = 'primary';
  }

  /** Refuses connections, as a proxy does if no server is available. */
  refuse(): void {
    this.leadsTo = 'nothing';
  }

  private async makeReadOnly(connection: PoolConnection): Promise<void> {
    this.readOnly.add(connection);
    if (this.dataSource.options.type === 'postgres') {
      await connection.query('SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY');
      return;
    }
    await new Promise<void>((resolve, reject) =>
      connection.query('SET SESSION TRANSACTION READ ONLY', (error) => (error ? reject(error) : resolve())),
    );
  }
}
