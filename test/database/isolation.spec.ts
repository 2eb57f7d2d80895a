import { DataSource } from 'typeorm';
import { createDatabase, describeOn, type TestDatabase } from '../support/databases';
import { TestApplication, PASSWORD } from '../support/test-application';

const USERS = ['alice', 'bob', 'carol'];

describeOn('postgres')('an application on %s', (name) => {
  describe.each(['repeatable read', 'serializable'])('with the default isolation level %s', (level) => {
    let database: TestDatabase;
    let app: TestApplication;

    beforeAll(async () => {
      database = await createDatabase(name);
      const first = await new DataSource(database.options).initialize();
      const [{ name: current }] = await first.query('SELECT current_database() AS name');
      await first.query(`ALTER DATABASE ${current} SET default_transaction_isolation = '${level}'`);
      await first.destroy();
      app = await TestApplication.start({ database, users: USERS });
    });
    afterAll(async () => {
      await app.close();
      await database.drop();
    });

    it('all parallel logins and refreshes succeed', async () => {
      const [row] = await app.dataSource.query<Record<string, string>[]>('SHOW default_transaction_isolation');
      expect(row!['default_transaction_isolation']).toBe(level);
      for (let round = 0; round < 4; round++) {
        const logins = await Promise.all(
          Array.from({ length: 18 }, (_, i) => app.auth.login({ username: USERS[i % 3]!, password: PASSWORD })),
        );
        await Promise.all(logins.map(({ refreshToken }) => app.auth.refresh(refreshToken)));
      }
      const [{ sessions }] = await app.dataSource.query('SELECT COUNT(*) AS sessions FROM auth_sessions');
      expect(Number(sessions)).toBe(72);
    });
  });
});
