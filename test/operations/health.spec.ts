import { Controller, Get, Module } from '@nestjs/common';
import { HealthCheck, HealthCheckService, HealthIndicatorService, TerminusModule } from '@nestjs/terminus';
import { AuthHealth, type AuthHealthReport } from 'nestjs-session-auth';
import { DataSource } from 'typeorm';
import { PooledDatabase } from '../../libs/auth/src/store/database/pooled-database';
import { SqlStoreProbe } from '../../libs/auth/src/store/database/sql-store-probe';
import { StatementFactory } from '../../libs/auth/src/store/database/statement-factory';
import { stories, type Stage } from '../e2e/stories';
import { createDatabase, describeEachPooled, type DatabaseName, type TestDatabase } from '../support/databases';
import { Flap } from '../support/flap';
import { Host } from '../support/host';
import { Tap } from '../support/tap';

@Controller('health')
class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly indicators: HealthIndicatorService,
    private readonly auth: AuthHealth,
  ) {}

  @Get()
  @HealthCheck()
  check() {
    return this.health.check([() => this.auth.isHealthy()]);
  }

  @Get('built')
  @HealthCheck()
  built() {
    return this.health.check([
      async () => {
        const { status, ...more } = await this.auth.check();
        const indicator = this.indicators.check('sign-in');
        return status === 'up' ? indicator.up(more) : indicator.down(more);
      },
    ]);
  }
}

const UP = { status: 'up', database: 'up', reason: null, lastPrunedAt: null, lastPruneFailedAt: null };
const DOWN = { status: 'down', database: 'down' };

@Module({ imports: [TerminusModule.forRoot({ logger: false })], controllers: [HealthController] })
class HealthModule {}

stories('the health check, called by Terminus', { imports: [HealthModule] }, (at: Stage) => {
  it('is up', async () => {
    const { body } = await at.host.http.get('/health').expect(200);
    expect(body).toEqual({ status: 'ok', info: { auth: UP }, error: {}, details: { auth: UP } });
    const built = await at.host.http.get('/health/built').expect(200);
    expect(built.body.info).toEqual({ 'sign-in': UP });
  });

  it('reports when pruning last completed and last failed, and stays up after a failure', async () => {
    const { host } = at;
    const tap = new Tap(host);
    await host.pruning.prune();
    const prunedAt = new Date(host.clock.now()).toISOString();
    host.clock.advance(1_000);
    tap.hook = {
      before: ({ kind }) => {
        if (kind === 'statement') throw new Error('away');
      },
    };
    await expect(host.pruning.prune()).rejects.toThrow();
    tap.hook = {};
    const failedAt = new Date(host.clock.now()).toISOString();
    host.clock.advance(1_000);
    await host.pruning.prune({ dryRun: true });
    expect(await host.app.get(AuthHealth).check()).toEqual({
      ...UP,
      lastPrunedAt: prunedAt,
      lastPruneFailedAt: failedAt,
    });
  });

  it('is down while the database fails, and does not say more than one word of why', async () => {
    const tap = new Tap(at.host);
    tap.hook = {
      before: ({ kind }) => {
        if (kind === 'statement') throw new Error('SELECT secret FROM auth_sessions');
      },
    };
    for (const path of ['/health', '/health/built']) {
      const { body, text } = await at.host.http.get(path).expect(503);
      expect(body.error[path === '/health' ? 'auth' : 'sign-in']).toMatchObject({ ...DOWN, reason: 'other' });
      expect(text).not.toMatch(/secret|auth_/i);
    }
    tap.hook = {};
    await at.host.http.get('/health').expect(200);
  });

  it('is down when a table of the library is missing', async () => {
    const { dataSource } = at.host;
    await dataSource.query('ALTER TABLE auth_password_resets RENAME TO elsewhere');
    expect(await at.host.app.get(AuthHealth).check()).toMatchObject({ status: 'down' });
    await dataSource.query('ALTER TABLE elsewhere RENAME TO auth_password_resets');
    expect(await at.host.app.get(AuthHealth).check()).toMatchObject({ status: 'up' });
  });
});

/** What makes a server of each kind say that it takes no writes. */
const REFUSALS: Record<DatabaseName, readonly { reason: string; says: readonly [column: string, value: string] }[]> = {
  sqlite: [],
  postgres: [
    { reason: 'in_recovery', says: ['pg_is_in_recovery()', 'true'] },
    { reason: 'read_only', says: ["current_setting('transaction_read_only')", "'on'"] },
  ],
  mariadb: [
    { reason: 'read_only', says: ['@@global.read_only', '1'] },
    { reason: 'read_only', says: ['@@global.read_only', "'NO_LOCK'"] },
    { reason: 'read_only', says: ['@@global.innodb_read_only', '1'] },
    { reason: 'not_ready', says: ["variable_value <> ''", 'TRUE'] },
  ],
};

describeEachPooled('the health check on %s', (name) => {
  let database: TestDatabase;
  let host: Host;
  const health = (): Promise<AuthHealthReport> => host.app.get(AuthHealth).check();

  beforeEach(async () => {
    database = await createDatabase(name);
    host = await Host.start({ database });
  });
  afterEach(async () => {
    await host.close();
    await database.drop();
  });

  it.each([...REFUSALS[name]])(
    'is down on a server that takes no writes, and says why: %j',
    async ({ reason, says }) => {
      const tap = new Tap(host);
      let asked = 0;
      tap.hook = {
        before: (call) => {
          if (call.sql.includes(says[0])) asked++;
          call.sql = call.sql.replace(...says);
        },
      };
      expect(await health()).toMatchObject({ ...DOWN, reason });
      // It asks once more, over a new connection: a proxy may lead to another server by now.
      expect(asked).toBe(2);
      expect(host.logs.join('\n')).toMatch(`The database failed: ${reason}.`);
      tap.hook = {};
      expect(await health()).toMatchObject({ status: 'up' });
    },
  );

  // MariaDB has no setting of the session that this statement would read.
  (name === 'postgres' ? it : it.skip)('takes the connections to a read-only server out of the pool', async () => {
    const flap = new Flap(host.dataSource);
    flap.begin();
    await host.dataSource.query('SELECT 1');
    flap.end();
    const { opened } = flap;
    expect(await health()).toMatchObject({ status: 'up' });
    expect(flap.opened).toBe(opened + 1);
  });

  it('is down while a node of Galera is not synchronised', async () => {
    const tap = new Tap(host);
    const refusal = { errno: 1047, message: 'WSREP has not yet prepared node for application use' };
    tap.hook = {
      before: () => {
        throw Object.assign(new Error(refusal.message), refusal);
      },
    };
    expect(await health()).toMatchObject({ ...DOWN, reason: 'not_ready' });
  });

  it('needs no privilege but that to read the tables', async () => {
    const user = `nsa_reader_${process.pid}`;
    const { dataSource } = host;
    const url = new URL((database.options as { url: string }).url);
    const schema = url.pathname.slice(1);
    const [create, drop] =
      name === 'postgres'
        ? [
            [`CREATE ROLE ${user} LOGIN PASSWORD 'reader'`, `GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${user}`],
            [`DROP OWNED BY ${user}`, `DROP ROLE ${user}`],
          ]
        : [
            [`CREATE USER ${user} IDENTIFIED BY 'reader'`, `GRANT SELECT ON ${schema}.* TO ${user}`],
            [`DROP USER ${user}`],
          ];
    for (const sql of create) await dataSource.query(sql);
    [url.username, url.password] = [user, 'reader'];
    const reader = await new DataSource({
      ...dataSource.options,
      url: url.href,
      synchronize: false,
    } as never).initialize();
    const database_ = new PooledDatabase(reader, name === 'postgres' ? 'postgres' : 'mysql');
    const times = { idleMs: 1, absoluteMs: 1, retentionMs: 1 };
    const probe = new SqlStoreProbe(database_, new StatementFactory(reader, database_.dialect, null, times));
    expect(await probe.findFailure()).toBeNull();
    await reader.destroy();
    for (const sql of drop) await dataSource.query(sql);
  });
});
