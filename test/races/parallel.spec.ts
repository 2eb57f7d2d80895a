import { createDatabase, DATABASES, type TestDatabase } from '../support/databases';
import { Host } from '../support/host';

/** Two instances on one database, as behind a load balancer. */
describe.each(DATABASES)('parallel requests to two instances on %s', (name) => {
  let database: TestDatabase;
  let hosts: [Host, Host];

  beforeAll(async () => {
    database = await createDatabase(name);
    hosts = [await Host.start({ database }), await Host.start({ database, users: [] })];
  });
  afterAll(async () => {
    for (const host of hosts) await host.close();
    await database.drop();
  });
  beforeEach(async () => {
    for (const host of hosts) await host.reset();
  });

  const cases = [2, 5, 20, 50].flatMap((count) => [
    { count, instances: 1 },
    { count, instances: 2 },
  ]);
  it.each(cases)(
    '$count refreshes of one token on $instances instance(s): one pair, then reuse, reported once',
    async ({ count, instances }) => {
      const session = await hosts[0].login();
      const other = await hosts[1].login();
      const answers = await Promise.all(
        Array.from({ length: count }, (_, index) => hosts[index % instances]!.refresh(session.refresh_token)),
      );
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).toEqual([200, ...Array<number>(count - 1).fill(400)]);
      const winner = answers.find(({ status }) => status === 200)!.body;
      await hosts[0].get('/me', winner.access_token).expect(401);
      await hosts[1].refresh(winner.refresh_token).expect(400);
      await hosts[1].get('/me', other.access_token).expect(401);
      const reported = hosts.flatMap((host) => host.sent('token_reuse_detected'));
      expect(reported.map(({ sessionsEnded }) => sessionsEnded)).toEqual([2]);
      const rows = await hosts[0].dataSource.query(`SELECT event FROM auth_events WHERE event = 'token_reuse'`);
      expect(rows).toHaveLength(1);
    },
  );

  it('a refresh that runs beside a logout never outlives it', async () => {
    for (let round = 0; round < 10; round++) {
      const session = await hosts[0].login();
      const [refreshed] = await Promise.all([
        hosts[0].refresh(session.refresh_token),
        hosts[1].post('/auth/logout', session.access_token),
      ]);
      if (refreshed.status !== 200) continue;
      const list = await hosts[0].get('/auth/sessions', refreshed.body.access_token);
      // Whichever came first: a session that was logged out is not listed, and one that is listed was not logged out.
      const ended = await hosts[0].dataSource.query(
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
  ] as const)('under %s leave no more than %i active', async (sessionPolicy, most) => {
    const database = await createDatabase(name);
    const auth = { sessionPolicy, maxSessions: 3 };
    const hosts = [await Host.start({ database, auth }), await Host.start({ database, auth, users: [] })];
    await Promise.all(Array.from({ length: 12 }, (_, index) => hosts[index % 2]!.login()));
    const rows = await hosts[0]!.dataSource.query(`SELECT id FROM auth_sessions WHERE state = 'active'`);
    expect(rows).toHaveLength(most);
    for (const host of hosts) await host.close();
    await database.drop();
  });

  it('at a limit that rejects open as many sessions as there is room for', async () => {
    const database = await createDatabase(name);
    const auth = { sessionPolicy: 'max_count', maxSessions: 3, onSessionLimit: 'reject' } as const;
    const hosts = [await Host.start({ database, auth }), await Host.start({ database, auth, users: [] })];
    const credentials = { username: 'alice', password: 'correct horse battery staple' };
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => hosts[index % 2]!.http.post('/auth/login').send(credentials)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(7);
    for (const host of hosts) await host.close();
    await database.drop();
  });
});
