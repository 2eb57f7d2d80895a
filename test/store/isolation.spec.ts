import type { DataSourceOptions } from 'typeorm';
import { createDatabase, describeOn, type TestDatabase } from '../support/databases';
import { Host, PASSWORD } from '../support/host';

const USERS = ['alice', 'bob', 'carol'];

describeOn('postgres').each(['repeatable read', 'serializable'])(
  'an application whose default isolation level is %s on postgres',
  (level) => {
    let database: TestDatabase;
    let host: Host;

    beforeAll(async () => {
      database = await createDatabase('postgres');
      const extra = { max: 20, options: `-c default_transaction_isolation=${level.replace(' ', '\\ ')}` };
      const options = { ...database.options, extra } as DataSourceOptions;
      host = await Host.start({ database: { ...database, options }, users: USERS });
    });
    afterAll(async () => {
      await host.close();
      await database.drop();
    });

    it('gets every one of its parallel logins and refreshes answered', async () => {
      const [row] = await host.dataSource.query<Record<string, string>[]>('SHOW default_transaction_isolation');
      expect(row!['default_transaction_isolation']).toBe(level);
      for (let round = 0; round < 4; round++) {
        const logins = await Promise.all(
          Array.from({ length: 18 }, (_, i) => host.auth.login({ username: USERS[i % 3]!, password: PASSWORD })),
        );
        await Promise.all(logins.map(({ refreshToken }) => host.auth.refresh(refreshToken)));
      }
      const [{ sessions }] = await host.dataSource.query('SELECT COUNT(*) AS sessions FROM auth_sessions');
      expect(Number(sessions)).toBe(72);
    });
  },
);
