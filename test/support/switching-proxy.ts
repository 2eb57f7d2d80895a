import { Deadline } from '../../libs/auth/src/database/deadline';
import type { DriverConnection, Lease } from '../../libs/auth/src/database/typeorm';
import { connectionsOf } from './tap';
import type { TestApplication } from './test-application';

/**
 * A proxy that temporarily routes to a read-only server. Every connection that is used in this time refuses
 * writes from then on. Connections that are opened later lead to the primary.
 */
export class SwitchingProxy {
  /** The number of the library's connections that were used since this object was created. */
  opened = 0;
  private readonly known = new WeakSet<object>();
  /** Connections to the read-only server. */
  private readonly readOnly = new WeakSet<object>();
  private leadsTo: 'primary' | 'standby' | 'nothing' = 'primary';

  constructor(private readonly app: TestApplication) {
    const connections = connectionsOf(app) as unknown as { obtain(): Promise<Lease> };
    const obtain = connections.obtain.bind(connections);
    connections.obtain = () => this.route(obtain);
    const { driver } = app.dataSource as unknown as { driver: { obtainMasterConnection(): Promise<unknown> } };
    const obtainOfApplication = driver.obtainMasterConnection.bind(driver);
    driver.obtainMasterConnection = async () => {
      const obtained = await obtainOfApplication();
      await this.reach((Array.isArray(obtained) ? obtained[0] : obtained) as DriverConnection, false);
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

  /** Uses as many of the library's connections at the same time, so that each is routed to the current server. */
  async use(count: number): Promise<void> {
    let meet!: () => void;
    const met = new Promise<void>((resolve) => (meet = resolve));
    let used = 0;
    const wait = (): Promise<void> => (++used === count ? Promise.resolve(meet()) : met);
    const deadline = new Deadline(5_000);
    const uses = Array.from({ length: count }, () => connectionsOf(this.app).use(deadline, wait, true));
    await deadline.race(Promise.all(uses)).finally(() => deadline.clear());
  }

  private async route(obtain: () => Promise<Lease>): Promise<Lease> {
    if (this.leadsTo === 'nothing') throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    const lease = await obtain();
    if (!this.known.has(lease.connection)) this.opened++;
    this.known.add(lease.connection);
    await this.reach(lease.connection, true);
    return lease;
  }

  private async reach(connection: DriverConnection, isOwn: boolean): Promise<void> {
    if (this.leadsTo !== 'standby' || this.readOnly.has(connection)) return;
    this.readOnly.add(connection);
    if (this.app.dataSource.options.type === 'postgres') {
      await connection.query({ text: 'SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY' });
      return;
    }
    await new Promise<void>((resolve, reject) =>
      connection.query({ sql: 'SET SESSION TRANSACTION READ ONLY' }, (error) => (error ? reject(error) : resolve())),
    );
    if (!isOwn) return;
    // On these databases, the library reads global settings.
    const query = connection.query.bind(connection) as (options: { sql: string }, done: () => void) => void;
    connection.query = ((options: { sql: string }, done: () => void) =>
      query({ ...options, sql: options.sql.replace('@@global.read_only', '1') }, done)) as never;
  }
}
