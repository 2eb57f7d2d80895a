import { DataSource } from 'typeorm';
import { createDatabase } from '../support/databases';
import { Sample, urlOf } from '../support/sample';

describe('the log of the sample application', () => {
  it('the log has one line per security signal and 5xx response, without tokens, passwords or unknown user names', async () => {
    const database = await createDatabase('sqlite');
    const sample = Sample.start({
      DATABASE_URL: urlOf(database),
      AUTH_OPTIONS: JSON.stringify({ failedLogins: { throttleFrom: 2, signalAt: 1 } }),
    });
    const url = await sample.url();
    const post = async (path: string, body: object): Promise<Record<string, string>> => {
      const headers = { 'Content-Type': 'application/json' };
      const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
      return (await answer.json()) as Record<string, string>;
    };
    const { access_token: access, refresh_token: used } = await post('/auth/login/', {
      username: 'alice',
      password: 'secret',
    });
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
