import { OpenTelemetryMetrics } from '../../libs/auth/src/adapters/open-telemetry-metrics';
import { METRICS, type MetricName } from '../../libs/auth/src/domain/metrics';
import { Metrics, NoMetrics } from '../../libs/auth/src/domain/ports/platform';
import { createDatabase, DATABASES, type TestDatabase } from '../support/databases';
import { DAY } from '../support/driven-clock';
import { Host, PASSWORD } from '../support/host';
import { CheapPasswordHasher } from 'nestjs-session-auth/testing';
import { Tap } from '../support/tap';
import { Measurements } from './measurements';

/** Verifies passwords once `held` is resolved. */
class HeldHasher extends CheapPasswordHasher {
  static held: Promise<void> = Promise.resolve();

  override async verify(password: string, hash: string): Promise<boolean> {
    await HeldHasher.held;
    return super.verify(password, hash);
  }
}

describe.each(DATABASES)('metrics on %s', (name) => {
  let database: TestDatabase;
  let host: Host;
  let measured: Measurements;

  beforeEach(async () => {
    measured = new Measurements();
    measured.register();
    database = await createDatabase(name);
    const auth = {
      passwordHasher: HeldHasher,
      hashing: { concurrent: 1, waiting: 5 },
      failedLogins: { throttleFrom: 3 },
    };
    host = await Host.start({ database, auth });
  });
  afterEach(async () => {
    await host.close();
    await measured.shutdown();
    await database.drop();
  });

  const wrongLogin = async (username = 'alice') => host.http.post('/auth/login').send({ username, password: 'wrong' });

  it('count logins by their outcome', async () => {
    await host.login();
    for (let i = 0; i < 4; i++) await wrongLogin();
    await host.http.post('/auth/login').send({ username: 'alice' }).expect(400);
    expect(await measured.of('session_auth.login.duration')).toEqual({
      '': 1,
      invalid_credentials: 3,
      too_many_attempts: 1,
    });
    expect(await measured.of('session_auth.login.failed')).toEqual({ '': 3 });
    expect(await measured.of('session_auth.session.opened')).toEqual({ '': 1 });
  });

  it('count refreshes, and reuse with the sessions that it ended', async () => {
    const first = await host.login();
    await host.login();
    await host.refresh(first.refresh_token).expect(200);
    await host.refresh(first.refresh_token).expect(400);
    await host.refresh('nothing').expect(400);
    expect(await measured.of('session_auth.refresh.duration')).toEqual({ '': 1, invalid_refresh_token: 2 });
    expect(await measured.of('session_auth.token.reused')).toEqual({ '': 1 });
    expect(await measured.of('session_auth.session.ended')).toEqual({ token_reuse: 2 });
  });

  it('count the look-ups of the guard', async () => {
    const { access_token: token } = await host.login();
    await host.get('/me', token).expect(200);
    await host.get('/me', token).expect(200);
    await host.get('/me', 'nothing').expect(401);
    await host.http.get('/me').expect(401);
    expect(await measured.of('session_auth.lookup.duration')).toEqual({ '': 2, access_token_invalid: 1 });
    // Text that is not a token is not looked up.
    expect(await measured.of('session_auth.lookup.batch_size')).toEqual({ '': 2 });
  });

  it('count ended sessions by reason', async () => {
    const { access_token: token, session_id: id } = await host.login();
    const other = await host.login();
    await host.delete(`/auth/sessions/${other.session_id}`, token).expect(200);
    await host.post('/auth/logout', token).expect(200);
    await host.delete(`/auth/sessions/${id}`, token).expect(401);
    expect(await measured.of('session_auth.session.ended')).toEqual({ user: 1, logout: 1 });
  });

  it('count pruning runs, and the rows that they ended or removed', async () => {
    await host.login();
    host.clock.advance(100 * DAY);
    await host.pruning.prune({ dryRun: true });
    expect(await measured.of('session_auth.prune.duration')).toEqual({});
    await host.pruning.prune();
    expect(await measured.of('session_auth.prune.duration')).toEqual({ '': 1 });
    await host.pruning.prune();
    expect(await measured.of('session_auth.prune.rows')).toEqual({ ended_sessions: 1, sessions: 1, events: 1 });
    expect(await measured.of('session_auth.session.ended')).toEqual({ expired: 1 });
  });

  it('show how many password hashes run and wait', async () => {
    let release = (): void => undefined;
    HeldHasher.held = new Promise((resolve) => (release = resolve));
    const logins = ['alice', 'bob', 'carol'].map((username) =>
      host.http.post('/auth/login').send({ username, password: PASSWORD }).then(),
    );
    let waiting = 0;
    while (waiting < 2) waiting = (await measured.of('session_auth.hashing.waiting'))['']!;
    expect(await measured.of('session_auth.hashing.running')).toEqual({ '': 1 });
    release();
    await Promise.all(logins);
    expect(await measured.of('session_auth.hashing.waiting')).toEqual({ '': 0 });
    expect(await measured.of('session_auth.hashing.running')).toEqual({ '': 0 });
  });

  it('count failures of the database', async () => {
    const { access_token: token } = await host.login();
    const tap = new Tap(host);
    tap.hook = {
      before: ({ kind }) => {
        if (kind === 'statement') throw Object.assign(new Error('Connection lost'), { code: 'ECONNRESET' });
      },
    };
    await host.get('/me', token).expect(503);
    await expect(host.pruning.prune()).rejects.toThrow();
    tap.hook = {};
    expect(await measured.of('session_auth.database.errors')).toEqual({ connection_lost: 2 });
    expect(await measured.of('session_auth.lookup.duration')).toEqual({ database_unavailable: 1 });
    expect(await measured.of('session_auth.prune.duration')).toEqual({ database_unavailable: 1 });
  });

  it('have the documented units, and attributes that identify nobody', async () => {
    const { access_token: token, refresh_token: refresh, session_id: id } = await host.login();
    await host.refresh(refresh);
    await host.refresh(refresh);
    await wrongLogin('bob');
    const all = await measured.all();
    for (const { descriptor } of all) {
      const { unit, description } = METRICS[descriptor.name as MetricName];
      expect(descriptor).toMatchObject({ unit, description });
    }
    const text = JSON.stringify(all);
    for (const secret of ['alice', 'bob', '127.0.0.1', token, refresh, id]) expect(text).not.toContain(secret);
    const values = all.flatMap(({ dataPoints }) => dataPoints.flatMap(({ attributes }) => Object.values(attributes)));
    for (const value of values) expect(value).toMatch(/^[a-z_]+$/);
  });

  it('are no longer collected when the application is closed', async () => {
    await host.close();
    expect(await measured.of('session_auth.hashing.running')).toEqual({});
    host = await Host.start({ database, users: [] });
  });
});

describe('no metrics are collected', () => {
  it('where no SDK is registered', async () => {
    expect(OpenTelemetryMetrics.load()).toBeInstanceOf(NoMetrics);
  });

  it('where the API is not installed', () => {
    const missing = Object.assign(new Error("Cannot find module '@opentelemetry/api'"), { code: 'MODULE_NOT_FOUND' });
    const metrics = OpenTelemetryMetrics.load(() => {
      throw missing;
    });
    expect(metrics).toBeInstanceOf(NoMetrics);
  });

  it('without an SDK, and the guard starts no timer', async () => {
    const database = await createDatabase('sqlite');
    const host = await Host.start({ database });
    const startTimer = jest.spyOn(host.app.get(Metrics), 'startTimer');
    const { access_token: token } = await host.login();
    await host.get('/me', token).expect(200);
    expect(startTimer).not.toHaveBeenCalled();
    await host.close();
    await database.drop();
  });
});
