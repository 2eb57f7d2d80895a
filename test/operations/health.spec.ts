import { Controller, Get, Module } from '@nestjs/common';
import { HealthCheck, HealthCheckService, HealthIndicatorService, TerminusModule } from '@nestjs/terminus';
import { AuthHealth } from 'nestjs-session-auth';
import { stories, type Stage } from '../e2e/stories';
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

const UP = { status: 'up', database: 'up', lastPrunedAt: null, lastPruneFailedAt: null };

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

  it('is down while the database fails, and does not say why', async () => {
    const tap = new Tap(at.host);
    tap.hook = {
      before: ({ kind }) => {
        if (kind === 'statement') throw new Error('SELECT secret FROM auth_sessions');
      },
    };
    for (const path of ['/health', '/health/built']) {
      const { body, text } = await at.host.http.get(path).expect(503);
      expect(body.error[path === '/health' ? 'auth' : 'sign-in']).toMatchObject({ status: 'down', database: 'down' });
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
