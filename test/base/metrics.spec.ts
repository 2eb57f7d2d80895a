import { metrics } from '@opentelemetry/api';
import { MeterProvider, MetricReader, type MetricData } from '@opentelemetry/sdk-metrics';
import { Metrics, METRICS, type MetricName } from '../../libs/auth/src/base/telemetry';
import { DATABASES } from '../support/databases';
import { DAY } from '../support/driven-clock';
import { startForTest } from '../support/start-for-test';
import { PASSWORD, type TestApplication } from '../support/test-application';
import { PasswordHasher } from 'nestjs-session-auth';
import { setTimeout } from 'node:timers/promises';
import { pending, Tap } from '../support/tap';

/** Collects metrics, as a reader of an OpenTelemetry SDK does. */
class Measurements extends MetricReader {
  protected override onForceFlush = (): Promise<void> => Promise.resolve();
  protected override onShutdown = (): Promise<void> => Promise.resolve();

  /** Returns all metrics measured so far. */
  async all(): Promise<MetricData[]> {
    return (await this.collect()).resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
  }

  /** Returns the values of one metric by its attributes. The value of a histogram is its count. */
  async of(name: MetricName): Promise<Record<string, number>> {
    const found = (await this.all()).find(({ descriptor }) => descriptor.name === name);
    if (!found) return {};
    const rows = found.dataPoints.map(({ attributes, value }) => [
      Object.values(attributes).join(' '),
      typeof value === 'number' ? value : value.count,
    ]);
    return Object.fromEntries(rows) as Record<string, number>;
  }
}

describe.each(DATABASES)('metrics on %s', (name) => {
  let app: TestApplication;
  let measured: Measurements;

  beforeEach(async () => {
    measured = new Measurements();
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [measured] }));
    const hashing = { concurrent: 1, waiting: 5 };
    const auth = { hashing, connections: 3, failedLogins: { throttleFrom: 3 } };
    app = await startForTest(name, { auth });
  });
  afterEach(() => metrics.disable());

  const wrongLogin = async (username = 'alice') => app.http.post('/auth/login').send({ username, password: 'wrong' });

  it.each<[string, () => Promise<unknown>, Record<string, Record<string, number>>]>([
    [
      'logins by outcome',
      async () => {
        await app.login();
        for (let i = 0; i < 4; i++) await wrongLogin();
        await app.http.post('/auth/login').send({ username: 'alice' }).expect(400);
      },
      {
        'login.duration': { '': 1, invalid_credentials: 3, too_many_attempts: 1 },
        'login.failed': { '': 3 },
        'session.opened': { '': 1 },
      },
    ],
    [
      'refreshes, detected reuse and the sessions that the reuse ended',
      async () => {
        const first = await app.login();
        await app.login();
        await app.refresh(first.refresh_token).expect(200);
        await app.refresh(first.refresh_token).expect(400);
        await app.refresh('nothing').expect(400);
      },
      {
        'refresh.duration': { '': 1, invalid_refresh_token: 2 },
        'token.reused': { '': 1 },
        'session.ended': { token_reuse: 2 },
      },
    ],
    [
      'the lookups of the guard',
      async () => {
        const { access_token: token } = await app.login();
        for (let i = 0; i < 2; i++) await app.get('/me', token).expect(200);
        await app.get('/me', 'nothing').expect(401);
        await app.http.get('/me').expect(401);
      },
      // Text without the format of a token is refused without a query.
      { 'lookup.duration': { '': 2, access_token_invalid: 1 }, 'lookup.batch_size': { '': 2 } },
    ],
    [
      'ended sessions by reason',
      async () => {
        const [{ access_token: token, session_id: id }, other] = [await app.login(), await app.login()];
        await app.delete(`/auth/sessions/${other.session_id}`, token).expect(200);
        await app.post('/auth/logout', token).expect(200);
        await app.delete(`/auth/sessions/${id}`, token).expect(401);
      },
      { 'session.ended': { user: 1, logout: 1 } },
    ],
    [
      'pruning runs, except dry runs, and the rows that they ended or deleted',
      async () => {
        await app.login();
        app.clock.advance(100 * DAY);
        await app.pruning.prune({ dryRun: true });
        for (let i = 0; i < 2; i++) await app.pruning.prune();
      },
      {
        'prune.duration': { '': 2 },
        'prune.rows': { ended_sessions: 1, sessions: 1, events: 1 },
        'session.ended': { expired: 1 },
      },
    ],
    [
      'failures of the database',
      async () => {
        const { access_token: token } = await app.login();
        const tap = new Tap(app);
        tap.fail();
        await app.get('/me', token).expect(503);
        await expect(app.pruning.prune()).rejects.toThrow();
        tap.hook = {};
      },
      {
        'database.errors': { connection_lost: 2 },
        'lookup.duration': { database_unavailable: 1 },
        'prune.duration': { database_unavailable: 1 },
      },
    ],
  ])('the metrics count %s', async (_, work, counts) => {
    await work();
    for (const [metric, values] of Object.entries(counts)) {
      expect([metric, await measured.of(`session_auth.${metric}` as MetricName)]).toEqual([metric, values]);
    }
  });

  it('the metrics show how many password hashes run and wait', async () => {
    const { promise, resolve: release } = pending();
    jest.spyOn(app.nest.get(PasswordHasher), 'verify').mockImplementation(() => promise.then(() => true));
    const logins = ['alice', 'bob', 'carol'].map((username) =>
      app.http.post('/auth/login').send({ username, password: PASSWORD }).then(),
    );
    while ((await measured.of('session_auth.hashing.waiting'))[''] !== 2) await setTimeout(5);
    expect(await measured.of('session_auth.hashing.running')).toEqual({ '': 1 });
    release();
    await Promise.all(logins);
    for (const state of ['waiting', 'running'] as const) {
      expect(await measured.of(`session_auth.hashing.${state}`)).toEqual({ '': 0 });
    }
  });

  (name === 'sqlite' ? it.skip : it)("the metrics show how many of the library's connections are in use", async () => {
    const { access_token: token } = await app.login();
    const userId = await app.userId();
    const level = async (of: string) => (await measured.of(`session_auth.connections.${of}` as MetricName))[''];
    const levels = () => Promise.all(['used', 'waiting', 'max'].map(level));
    const { promise, resolve: release } = pending();
    new Tap(app).hook.before = () => promise;
    const lists = [1, 2, 3, 4].map(() => app.auth.listSessions(userId));
    const read = app.authentication.authenticate(token, {});
    while ((await levels())[0] !== 3) await setTimeout(5);
    expect(await levels()).toEqual([3, 2, 3]);
    release();
    await Promise.all([...lists, read]);
    expect(await levels()).toEqual([0, 0, 3]);
  });

  it('the metrics have the documented units, and their attributes contain no personal data', async () => {
    const { access_token: token, refresh_token: refresh, session_id: id } = await app.login();
    await app.refresh(refresh);
    await app.refresh(refresh);
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

  it('the metrics are no longer collected after the application is closed', async () => {
    await app.close();
    expect(await measured.of('session_auth.hashing.running')).toEqual({});
  });
});

it('no metrics are collected without a registered SDK, or if the API is not installed', () => {
  const missing = Object.assign(new Error("Cannot find module '@opentelemetry/api'"), { code: 'MODULE_NOT_FOUND' });
  const requireApi = (): never => {
    throw missing;
  };
  expect([Metrics.load().isOn, Metrics.load(requireApi).isOn]).toEqual([false, false]);
});
