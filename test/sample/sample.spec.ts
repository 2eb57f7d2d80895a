import { DataSource } from 'typeorm';
import { createDatabase, DATABASES } from '../support/databases';
import { Sample, urlOf } from '../support/sample';
import type { LoginAnswer } from '../support/test-application';

const ALICE = { username: 'alice', password: 'secret' };

async function call(url: string, token?: string, body?: object): Promise<{ status: number; body: LoginAnswer }> {
  const headers = { 'Content-Type': 'application/json', ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  const answer = await fetch(url, body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers });
  return { status: answer.status, body: (await answer.json()) as LoginAnswer };
}

describe.each(DATABASES)('two instances of the sample application on %s', (name) => {
  it('two instances that start together serve the same users, show alerts only to their user and stop cleanly', async () => {
    const database = await createDatabase(name);
    const env = { DATABASE_URL: urlOf(database), SAMPLE_USERS: 'alice:secret,Alice:other:x,bob:secret' };
    const samples = [Sample.start(env), Sample.start(env)];
    const [one, two] = (await Promise.all(samples.map((sample) => sample.url()))) as [string, string];

    const login = async (url: string, username: string, password: string): Promise<LoginAnswer> =>
      (await call(`${url}/auth/login/`, undefined, { username, password })).body;
    const phone = await login(one, 'alice', 'secret');
    const other = await login(two, 'Alice', 'other:x');
    const me = { id: expect.any(Number), username: 'alice', session_id: phone.session_id };
    expect((await call(`${two}/me`, phone.access_token)).body).toEqual(me);

    const refresh = (url: string): Promise<{ status: number }> =>
      call(`${url}/auth/token/refresh/`, undefined, { refresh_token: phone.refresh_token });
    expect((await refresh(one)).status).toBe(200);
    expect((await refresh(two)).status).toBe(400);
    expect((await call(`${one}/me`, other.access_token)).status).toBe(200);

    const next = await login(one, 'alice', 'secret');
    expect((await refresh(one)).status).toBe(400);
    const alerts = await call(`${one}/security-alerts`, next.access_token);
    expect(alerts.body).toEqual([
      { at: expect.any(String), ip_address: '127.0.0.1', session_id: phone.session_id, sessions_ended: 1 },
    ]);
    expect((await call(`${one}/security-alerts`, other.access_token)).body).toEqual([]);
    expect(await Promise.all(samples.map((sample) => sample.stop()))).toEqual([0, 0]);
    await database.drop();
  }, 60_000);
});

describe('the output of the sample application', () => {
  it('the exposed sample application does not start while a published password is stored', async () => {
    const database = await createDatabase('sqlite');
    const env = { DATABASE_URL: urlOf(database), SAMPLE_USERS: 'carol:something long' };
    const local = Sample.start({ DATABASE_URL: urlOf(database) });
    await local.url();
    await local.stop();
    for (const exposed of [{ HOST: '0.0.0.0' }, { NODE_ENV: 'production' }]) {
      const refused = Sample.start({ ...env, ...exposed });
      await expect(refused.url()).rejects.toThrow('users with a published default password: alice, bob; unset HOST');
      expect(await refused.waitForExit()).toBe(1);
    }
    const dataSource = await new DataSource(database.options).initialize();
    await dataSource.query("UPDATE users SET password_hash = 'changed'");
    await dataSource.destroy();
    const accepted = Sample.start({ ...env, NODE_ENV: 'production' });
    await accepted.url();
    expect(await accepted.stop()).toBe(0);
    await database.drop();
  }, 60_000);

  it('the log has one line per security signal and 5xx response, without tokens, passwords or unknown user names', async () => {
    const database = await createDatabase('sqlite');
    const AUTH_OPTIONS = JSON.stringify({ failedLogins: { throttleFrom: 2, signalAt: 1 } });
    const sample = Sample.start({ DATABASE_URL: urlOf(database), AUTH_OPTIONS });
    const url = await sample.url();
    const post = async (path: string, body: object): Promise<LoginAnswer> =>
      (await call(url + path, undefined, body)).body;
    const { access_token: access, refresh_token: used } = await post('/auth/login/', ALICE);
    const { refresh_token: next } = await post('/auth/token/refresh/', { refresh_token: used });
    await post('/auth/token/refresh/', { refresh_token: used });
    for (let i = 0; i < 2; i++) await post('/auth/login/', { username: 'my password', password: 'alice' });

    const other = await new DataSource(database.options).initialize();
    await other.query('DROP TABLE auth_login_failures');
    await post('/auth/login/?password=secret', { username: 'bob', password: 'secret' });
    await other.destroy();
    expect(await sample.stop()).toBe(0);

    const log = sample.output.split('\n').filter((line) => line.startsWith('[Nest]'));
    const entries = log.map((line) =>
      line.replace(/^.*? (?:WARN|ERROR) \[(\w+)\]/, '$1:').replace(/[\da-f-]{36}|\d+ ms|2\d\S+Z/g, '*'),
    );
    expect(entries).toEqual([
      'Security: token_reuse_detected userId=1 sessionId=* ipAddress=127.0.0.1 generationsBehind=1 sessionsEnded=1',
      'Security: brute_force_threshold_hit ipAddress=127.0.0.1 scope=network failureCount=1',
      'Security: login_blocked userId=unknown ipAddress=127.0.0.1 scope=network until=*',
      expect.stringMatching(/^AuthDatabase: The database failed: SQLITE_ERROR, table auth_login_failures/),
      'Requests: POST /auth/login/ 503 after *',
    ]);
    for (const secret of [access, used, next, 'my password', 'secret']) expect(log.join()).not.toContain(secret);
    await database.drop();
  }, 60_000);
});

describe('invalid settings of the sample application', () => {
  it.each([
    [{ AUTH_OPTIONS: '{"maxSessions":0}' }, 'maxSessions is 0; use a whole number from 1 to 1000'],
    [{ AUTH_OPTIONS: 'no' }, 'AUTH_OPTIONS is not a JSON object'],
    [{ PORT: 'no' }, "PORT is 'no'; use a number"],
    [{ HOST: '0.0.0.0' }, "HOST is '0.0.0.0', so other computers could log in with the default passwords"],
    [{ NODE_ENV: 'production' }, "NODE_ENV is 'production', and the default passwords are published"],
    [{ SAMPLE_USERS: 'alice' }, 'SAMPLE_USERS is not a list of users'],
    [{ API_ORIGIN: 'http://localhost:3000/' }, "API_ORIGIN is 'http://localhost:3000/'; use an origin"],
    [{ DATABASE_URL: 'oracle://x' }, 'DATABASE_URL is not a supported database URL'],
  ])(
    'the sample application exits with an error that explains the setting %j',
    async (env, message) => {
      const sample = Sample.start({ DATABASE_URL: 'sqlite::memory:', ...env });
      expect(await sample.waitForExit()).toBe(1);
      expect(sample.output).toContain(message);
      expect(sample.output).not.toContain('    at ');
    },
    60_000,
  );
});
