import { Database } from '../../libs/auth/src/store/database/database';
import { runIn, JoinedTransaction } from '../../libs/auth/src/store/database/joined-transaction';
import { affectedBy, RolledBack, type Transaction } from '../../libs/auth/src/store/database/transaction';
import { createDatabase, DATABASES, type TestDatabase } from '../support/databases';
import { Host } from '../support/host';

const insert = (userId: string): string =>
  `INSERT INTO auth_user_locks (user_id, credentials_version, lock_count) VALUES ('${userId}', 0, 0)`;

describe.each(DATABASES)('a transaction that returns RolledBack on %s', (name) => {
  let database: TestDatabase;
  let host: Host;

  beforeAll(async () => {
    database = await createDatabase(name);
    host = await Host.start({ database });
  });
  afterAll(async () => {
    await host.close();
    await database.drop();
  });
  beforeEach(() => host.dataSource.query('DELETE FROM auth_user_locks'));

  function* refuse(userId: string): Transaction<RolledBack<string>> {
    yield* affectedBy({ sql: insert(userId), params: [] });
    return new RolledBack('refused');
  }

  const stored = async (): Promise<string[]> => {
    const rows: { user_id: string }[] = await host.dataSource.query('SELECT user_id FROM auth_user_locks');
    return rows.map((row) => row.user_id);
  };

  it('has its outcome and leaves nothing, and its connection can be used again', async () => {
    const running = host.app.get(Database);
    for (let i = 0; i < 20; i++) expect(await running.transaction(() => refuse('refused'))).toBe('refused');
    expect(await stored()).toEqual([]);
  });

  it("undoes nothing else of the application's transaction that it is part of", async () => {
    await host.dataSource.transaction(async (manager) => {
      await manager.query(insert('before'));
      const joined = new JoinedTransaction(manager.queryRunner!);
      const outcome = await runIn(joined, () => host.app.get(Database).transaction(() => refuse('refused')));
      expect(outcome).toBe('refused');
      await manager.query(insert('after'));
    });
    expect((await stored()).sort()).toEqual(['after', 'before']);
  });
});
