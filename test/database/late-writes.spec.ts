import { DataSource } from 'typeorm';
import { Database } from '../../libs/auth/src/database/database';
import { createDatabase, describeEachPooled, DIALECTS, type TestDatabase } from '../support/databases';
import { TestApplication, PASSWORD } from '../support/test-application';

/** The rows or tables that another transaction locks for longer than the library waits. */
const LOCKED = {
  'the row of auth_user_locks': 'SELECT * FROM auth_user_locks FOR UPDATE',
  'the row of auth_sessions': 'SELECT * FROM auth_sessions FOR UPDATE',
  'the table auth_events': {
    postgres: 'LOCK TABLE auth_events IN EXCLUSIVE MODE',
    mysql: 'LOCK TABLES auth_events WRITE',
  },
} as const;

describeEachPooled('operations that are delayed by a lock on %s', (name) => {
  let database: TestDatabase;
  let app: TestApplication;
  let other: DataSource;

  beforeAll(async () => {
    database = await createDatabase(name);
    app = await TestApplication.start({ database, auth: { sessionPolicy: 'single' } });
    other = await new DataSource({ ...database.options, entities: [], synchronize: false }).initialize();
  });
  afterAll(async () => {
    await other.destroy();
    await app.close();
    await database.drop();
  });

  const rows = (): Promise<unknown[]> =>
    Promise.all(
      ['auth_sessions', 'auth_events'].map((table) => app.dataSource.query(`SELECT * FROM ${table} ORDER BY 1`)),
    );

  describe.each(Object.entries(LOCKED))('with a lock on %s', (_, locked) => {
    it.each(['login', 'refresh'] as const)(
      'a %s that failed with 503 because of a lock changes nothing afterwards',
      async (operation) => {
        const session = await app.login();
        const before = await rows();
        const runner = other.createQueryRunner();
        await runner.startTransaction();
        await runner.query(typeof locked === 'string' ? locked : locked[DIALECTS[name]]);
        const bounds = app.nest.get<{ answerWithinMs: number }>(Database);
        bounds.answerWithinMs = 400;
        const status =
          operation === 'login'
            ? (await app.http.post('/auth/login').send({ username: 'alice', password: PASSWORD })).status
            : (await app.refresh(session.refresh_token)).status;
        if (status !== 503) {
          // Only a refresh can succeed, and only if auth_user_locks is locked, because a refresh does not lock that table.
          expect([operation, locked]).toEqual(['refresh', LOCKED['the row of auth_user_locks']]);
        }
        bounds.answerWithinMs = 5_000;
        if (DIALECTS[name] === 'mysql') await runner.query('UNLOCK TABLES');
        await runner.rollbackTransaction();
        await runner.release();
        if (status !== 503) return;
        await waitForOtherStatements(other);
        expect(await rows()).toEqual(before);
        await app.refresh(session.refresh_token).expect(200);
        expect(app.sent('token_reuse_detected')).toEqual([]);
      },
    );
  });
});

/** Waits until no other connection runs a statement. */
async function waitForOtherStatements(dataSource: DataSource): Promise<void> {
  const busy =
    dataSource.options.type === 'postgres'
      ? `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active'`
      : `SELECT 1 FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID() AND command = 'Query'`;
  while ((await dataSource.query<unknown[]>(busy)).length > 0) await new Promise(setImmediate);
}
