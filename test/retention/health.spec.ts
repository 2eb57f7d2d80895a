import { Controller, Get, Module } from '@nestjs/common';
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { AuthHealth, type AuthHealthReport } from 'nestjs-session-auth';
import { describeOnEachDatabase } from '../support/environment';
import { describeEachPooled, type Dialect, DIALECTS } from '../support/databases';
import { startForTest } from '../support/start-for-test';
import type { TestApplication } from '../support/test-application';
import { Tap } from '../support/tap';

@Controller('health')
class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly auth: AuthHealth,
  ) {}

  @Get()
  @HealthCheck()
  check() {
    return this.health.check([() => this.auth.isHealthy(), () => this.auth.isHealthy('sign-in')]);
  }
}

const UP = { status: 'up', database: 'up', reason: null, lastPrunedAt: null, lastPruneFailedAt: null };
const DOWN = { status: 'down', database: 'down' };

const FAILURE = new Error('SELECT secret FROM auth_sessions');

@Module({ imports: [TerminusModule.forRoot({ logger: false })], controllers: [HealthController] })
class HealthModule {}

describeOnEachDatabase('the health check, called by Terminus', { imports: [HealthModule] }, ({ app, tap }) => {
  it('the health check reports up', async () => {
    const { body } = await app.http.get('/health').expect(200);
    const reports = { auth: UP, 'sign-in': UP };
    expect(body).toEqual({ status: 'ok', info: reports, error: {}, details: reports });
  });

  it('the health check reports the last completed and failed pruning, and stays up after a failure', async () => {
    await app.pruning.prune();
    const prunedAt = new Date(app.clock.now()).toISOString();
    app.clock.advance(1_000);
    tap.fail(FAILURE);
    await expect(app.pruning.prune()).rejects.toThrow();
    tap.hook = {};
    const failedAt = new Date(app.clock.now()).toISOString();
    app.clock.advance(1_000);
    await app.pruning.prune({ dryRun: true });
    const runs = { lastPrunedAt: prunedAt, lastPruneFailedAt: failedAt };
    expect(await app.nest.get(AuthHealth).check()).toEqual({ ...UP, ...runs });
  });

  it('the health check is down while the database fails, and reveals only a reason code', async () => {
    tap.fail(FAILURE);
    const { body, text } = await app.http.get('/health').expect(503);
    const report = { ...DOWN, reason: 'other' };
    expect(body.error).toMatchObject({ auth: report, 'sign-in': report });
    expect(text).not.toMatch(/secret|auth_/i);
    tap.hook = {};
    await app.http.get('/health').expect(200);
  });

  it.each(['auth_sessions', 'auth_users', 'auth_api_keys'])(
    'the health check is down when the table %s is missing',
    async (table) => {
      const { dataSource } = app;
      await dataSource.query(`ALTER TABLE ${table} RENAME TO elsewhere`);
      expect(await app.nest.get(AuthHealth).check()).toMatchObject({ status: 'down' });
      await dataSource.query(`ALTER TABLE elsewhere RENAME TO ${table}`);
      expect(await app.nest.get(AuthHealth).check()).toMatchObject({ status: 'up' });
    },
  );
});

/** For each database, replacements in the SQL of the probe that make a server report that it accepts no writes. */
const REFUSALS: Record<Dialect, readonly { reason: string; says: readonly [column: string, value: string] }[]> = {
  sqlite: [],
  postgres: [
    { reason: 'in_recovery', says: ['pg_is_in_recovery()', 'true'] },
    { reason: 'read_only', says: ["current_setting('transaction_read_only')", "'on'"] },
  ],
  mysql: [
    { reason: 'read_only', says: ['@@global.read_only', '1'] },
    { reason: 'read_only', says: ['@@global.read_only', "'NO_LOCK'"] },
    { reason: 'read_only', says: ['@@global.innodb_read_only', '1'] },
    { reason: 'not_ready', says: ["variable_value <> ''", 'TRUE'] },
  ],
};

describeEachPooled('the health check on %s', (name) => {
  let app: TestApplication;
  const health = (): Promise<AuthHealthReport> => app.nest.get(AuthHealth).check();

  beforeEach(async () => void (app = await startForTest(name)));

  it.each([...REFUSALS[DIALECTS[name]]])(
    'the health check is down on a server that accepts no writes, with the reason $reason: $says',
    async ({ reason, says }) => {
      const tap = new Tap(app);
      let asked = 0;
      tap.hook.before = (call) => {
        if (call.sql.includes(says[0])) asked++;
        call.sql = call.sql.replace(...says);
      };
      expect(await health()).toMatchObject({ ...DOWN, reason });
      // The second query uses a new connection, because a proxy may have switched to another server.
      expect(asked).toBe(2);
      expect(app.logs.join('\n')).toMatch(`The database failed: ${reason}.`);
      tap.hook = {};
      expect(await health()).toMatchObject({ status: 'up' });
    },
  );

  it('the health check is down if the database takes longer than two seconds', async () => {
    const locker = app.dataSource.createQueryRunner();
    const [lock, unlock] =
      DIALECTS[name] === 'postgres'
        ? ['BEGIN; LOCK TABLE auth_events', 'COMMIT']
        : ['LOCK TABLES auth_events WRITE', 'UNLOCK TABLES'];
    await locker.query(lock);
    const startedAt = performance.now();
    expect(await health()).toMatchObject({ ...DOWN, reason: 'timeout' });
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    await locker.query(unlock);
    await locker.release();
    expect(await health()).toMatchObject({ status: 'up' });
  });
});
