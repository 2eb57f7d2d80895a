import { DataSource } from 'typeorm';
import { bearer, jsonRequest } from '../crash/request-with-retries';
import { ServerProcess } from '../crash/server-process';
import { DATABASES } from '../support/databases';
import { MINUTE } from '../support/driven-clock';
import { databaseForTest, startForTest } from '../support/start-for-test';
import { CREDENTIALS, type LoginAnswer, TestApplication } from '../support/test-application';
import { Activity } from '../../libs/auth/src/sessions/activity';
import { pending, Tap } from '../support/tap';

describe.each(DATABASES)('closing the application on %s', (name) => {
  it('a request that is in progress at the shutdown receives its response, and its change is stored', async () => {
    const database = await databaseForTest(name);
    const app = await TestApplication.start({ database });
    const session = await app.login();
    const tap = new Tap(app);
    const [arrived, opened] = [pending(), pending()];
    const kind = name === 'sqlite' ? 'transaction' : 'statement';
    tap.hook.before = (call) => {
      // The statement that commits the refresh. On PostgreSQL a refresh consists of a single statement.
      if (call.kind !== kind || (kind === 'statement' && !/^(COMMIT|WITH changed)/.test(call.sql))) return;
      arrived.resolve();
      return opened.promise;
    };
    const refreshed = app.refresh(session.refresh_token).then((answer) => answer);
    await arrived.promise;
    const closed = app.close();
    opened.resolve();
    const answer = await refreshed;
    await closed;
    expect(answer.status).toBe(200);
    const next = await startForTest(database, { users: [] });
    await next.get('/me', answer.body.access_token).expect(200);
  });

  it.each(['before the shutdown', 'during the shutdown'])(
    'the activity of a request that arrives %s is written',
    async (when) => {
      const database = await databaseForTest(name);
      const app = await TestApplication.start({ database });
      const { access_token: token } = await app.login();
      app.clock.advance(2 * MINUTE);
      if (when === 'before the shutdown') await app.get('/me', token).expect(200);
      const tap = new Tap(app);
      const kind = name === 'sqlite' ? 'transaction' : 'statement';
      let closed: Promise<void> | undefined;
      if (when === 'during the shutdown') {
        // The application begins to close, and writes pending activity, while the guard looks up the session.
        const activity = app.nest.get(Activity);
        const stop = activity.beforeApplicationShutdown.bind(activity);
        const [started, flushed] = [pending(), pending()];
        activity.beforeApplicationShutdown = () => stop().then(flushed.resolve);
        tap.hook.before = (call) => {
          if (call.kind !== kind || closed) return;
          closed = app.close();
          started.resolve();
          return flushed.promise;
        };
        const answer = app.get('/me', token).then(({ status }) => status);
        await started.promise;
        expect(await answer).toBe(200);
      }
      await (closed ?? app.close());
      const reader = await new DataSource(database.options).initialize();
      const [row] = await reader.query('SELECT created_at, last_activity FROM auth_sessions');
      expect(Number(row.last_activity) - Number(row.created_at)).toBe(2 * MINUTE);
      await reader.destroy();
    },
  );

  it('the process exits after the application is closed, because no timer and no handle remains', async () => {
    const database = await databaseForTest(name);
    const app = await TestApplication.start({ database });
    await app.close();
    const server = ServerProcess.start(database.options, { refreshReuseGraceSeconds: 60, activityIntervalSeconds: 0 });
    const post = async (path: string, body: object): Promise<LoginAnswer> =>
      (await fetch(`${await server.url()}/auth/${path}`, jsonRequest(body))).json() as Promise<LoginAnswer>;
    const { refresh_token } = await post('login', CREDENTIALS);
    const { access_token } = await post('token/refresh', { refresh_token });
    expect((await fetch(`${await server.url()}/auth/sessions`, bearer(access_token))).status).toBe(200);
    expect([await server.stop(), server.output]).toEqual([0, '']);
  }, 90_000);
});
