import { createDatabase, DATABASES, type TestDatabase } from '../support/databases';
import { TestApplication } from '../support/test-application';

/** Two instances on one database, as behind a load balancer. */
describe.each(DATABASES)('parallel requests to two instances on %s', (name) => {
  let database: TestDatabase;
  let apps: [TestApplication, TestApplication];

  beforeAll(async () => {
    database = await createDatabase(name);
    apps = [await TestApplication.start({ database }), await TestApplication.start({ database, users: [] })];
  });
  afterAll(async () => {
    for (const app of apps) await app.close();
    await database.drop();
  });
  beforeEach(async () => {
    for (const app of apps) await app.reset();
  });

  const cases = [2, 5, 20, 50].flatMap((count) => [
    { count, instances: 1 },
    { count, instances: 2 },
  ]);
  it.each(cases)(
    '$count parallel refreshes of one token on $instances instance(s) return one pair, and reuse is reported once',
    async ({ count, instances }) => {
      const session = await apps[0].login();
      const other = await apps[1].login();
      const answers = await Promise.all(
        Array.from({ length: count }, (_, index) => apps[index % instances]!.refresh(session.refresh_token)),
      );
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).toEqual([200, ...Array<number>(count - 1).fill(400)]);
      const winner = answers.find(({ status }) => status === 200)!.body;
      await apps[0].get('/me', winner.access_token).expect(401);
      await apps[1].refresh(winner.refresh_token).expect(400);
      await apps[1].get('/me', other.access_token).expect(401);
      const reported = apps.flatMap((app) => app.sent('token_reuse_detected'));
      expect(reported.map(({ sessionsEnded }) => sessionsEnded)).toEqual([2]);
      const rows = await apps[0].dataSource.query(`SELECT event FROM auth_events WHERE event = 'token_reuse'`);
      expect(rows).toHaveLength(1);
    },
  );

  it('the tokens of a refresh in parallel with a logout are valid only if the logout has not ended the session', async () => {
    for (let round = 0; round < 10; round++) {
      const session = await apps[0].login();
      const [refreshed] = await Promise.all([
        apps[0].refresh(session.refresh_token),
        apps[1].post('/auth/logout', session.access_token),
      ]);
      if (refreshed.status !== 200) continue;
      const list = await apps[0].get('/auth/sessions', refreshed.body.access_token);
      // In either order, the list contains the session only if the logout has not ended the session.
      const ended = await apps[0].dataSource.query(
        `SELECT state FROM auth_sessions WHERE id = '${session.session_id}'`,
      );
      expect([list.status, ended[0].state]).toEqual(list.status === 200 ? [200, 'active'] : [401, 'logged_out']);
    }
  });
});

describe.each(DATABASES)('parallel logins to two instances on %s', (name) => {
  it.each([
    ['single', 1],
    ['max_count', 3],
  ] as const)('parallel logins under %s leave at most %i active sessions', async (sessionPolicy, most) => {
    const database = await createDatabase(name);
    // All of the logins may be in flight before the first of them succeeds.
    const auth = { sessionPolicy, maxSessions: 3, failedLogins: { throttleFrom: 20 } };
    const apps = [
      await TestApplication.start({ database, auth }),
      await TestApplication.start({ database, auth, users: [] }),
    ];
    await Promise.all(Array.from({ length: 12 }, (_, index) => apps[index % 2]!.login()));
    const rows = await apps[0]!.dataSource.query(`SELECT id FROM auth_sessions WHERE state = 'active'`);
    expect(rows).toHaveLength(most);
    for (const app of apps) await app.close();
    await database.drop();
  });

  it('parallel logins at a limit that rejects open as many sessions as there are free slots', async () => {
    const database = await createDatabase(name);
    const auth = {
      sessionPolicy: 'max_count',
      maxSessions: 3,
      onSessionLimit: 'reject',
      failedLogins: { throttleFrom: 20 },
    } as const;
    const apps = [
      await TestApplication.start({ database, auth }),
      await TestApplication.start({ database, auth, users: [] }),
    ];
    const credentials = { username: 'alice', password: 'correct horse battery staple' };
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => apps[index % 2]!.http.post('/auth/login').send(credentials)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(7);
    for (const app of apps) await app.close();
    await database.drop();
  });
});
