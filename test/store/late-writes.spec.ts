import { DataSource } from 'typeorm';
import { Database } from '../../libs/auth/src/store/database/database';
import { createDatabase, describeEachPooled, type TestDatabase } from '../support/databases';
import { Host, PASSWORD } from '../support/host';

/** What another transaction locks for longer than the library waits. */
const LOCKED = {
  'the lock of the user': 'SELECT * FROM auth_user_locks FOR UPDATE',
  'the session': 'SELECT * FROM auth_sessions FOR UPDATE',
  'the log': { postgres: 'LOCK TABLE auth_events IN EXCLUSIVE MODE', mariadb: 'LOCK TABLES auth_events WRITE' },
} as const;

describeEachPooled(
  'an operation that a lock delayed until it was answered with 503 is not done afterwards on %s',
  (name) => {
    let database: TestDatabase;
    let host: Host;
    let other: DataSource;

    beforeAll(async () => {
      database = await createDatabase(name);
      host = await Host.start({ database, auth: { sessionPolicy: 'single' } });
      other = await new DataSource({ ...database.options, entities: [], synchronize: false }).initialize();
    });
    afterAll(async () => {
      await other.destroy();
      await host.close();
      await database.drop();
    });

    const rows = (): Promise<unknown[]> =>
      Promise.all(
        ['auth_sessions', 'auth_events'].map((table) => host.dataSource.query(`SELECT * FROM ${table} ORDER BY 1`)),
      );

    describe.each(Object.entries(LOCKED))('with a lock on %s', (_, locked) => {
      it.each(['login', 'refresh'] as const)('a %s', async (operation) => {
        const session = await host.login();
        const before = await rows();
        const runner = other.createQueryRunner();
        await runner.startTransaction();
        await runner.query(typeof locked === 'string' ? locked : locked[name]);
        const bounds = host.app.get<{ answerWithinMs: number }>(Database);
        bounds.answerWithinMs = 400;
        const status =
          operation === 'login'
            ? (await host.http.post('/auth/login').send({ username: 'alice', password: PASSWORD })).status
            : (await host.refresh(session.refresh_token)).status;
        if (status !== 503) {
          // A refresh does not need the lock of the user.
          expect([operation, locked]).toEqual(['refresh', LOCKED['the lock of the user']]);
        }
        bounds.answerWithinMs = 5_000;
        if (name === 'mariadb') await runner.query('UNLOCK TABLES');
        await runner.rollbackTransaction();
        await runner.release();
        if (status !== 503) return;
        await noStatementRuns(other);
        expect(await rows()).toEqual(before);
        await host.refresh(session.refresh_token).expect(200);
        expect(host.sent('token_reuse_detected')).toEqual([]);
      });
    });
  },
);

/** Waits until the statements of others have ended. */
async function noStatementRuns(dataSource: DataSource): Promise<void> {
  const busy =
    dataSource.options.type === 'postgres'
      ? `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active'`
      : `SELECT 1 FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID() AND command = 'Query'`;
  while ((await dataSource.query<unknown[]>(busy)).length > 0) await new Promise(setImmediate);
}
