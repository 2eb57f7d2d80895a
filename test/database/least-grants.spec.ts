import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AUTH_ENTITIES } from 'nestjs-session-auth';
import type { DataSourceOptions } from 'typeorm';
import { describeEachPooled, DIALECTS } from '../support/databases';
import { DAY } from '../support/driven-clock';
import { databaseForTest, startForTest } from '../support/start-for-test';
import type { TestApplication } from '../support/test-application';
import { useEverything } from '../support/use-everything';

const auth = { refreshReuseGraceSeconds: 10 };

/** Does what applications do with the library. Returns the first failure, or what the library logged about one. */
async function failureOf(app: TestApplication): Promise<string> {
  app.logs.length = 0;
  app.clock.advance(DAY);
  try {
    await useEverything(app);
    app.clock.advance(400 * DAY);
    await app.pruning.prune();
  } catch (error) {
    return String(error);
  }
  return app.logs.join();
}

describeEachPooled('a role with the documented privileges on %s', (name) => {
  it('a role with the documented privileges can use every method, needs each of them, and has them on every table', async () => {
    const isPostgres = DIALECTS[name] === 'postgres';
    const section = readFileSync(join(__dirname, '../../docs/database.md'), 'utf8').split('\n## Privileges\n')[1]!;
    const documented = [...section.matchAll(/^\| `(auth_\w+)` \| ([^|]+) \|$/gm)].flatMap(([, table, privileges]) =>
      privileges!
        .split(', ')
        .filter((privilege) => isPostgres || !privilege.includes('(PostgreSQL)'))
        .map((privilege) => `${privilege.split(' ')[0]} ON ${table}`),
    );
    const database = await databaseForTest(name);
    const { dataSource } = await startForTest(database, { users: [] });
    const role = `nsa_role_${process.pid}`;
    const url = new URL((database.options as { url: string }).url);
    [url.username, url.password] = [role, 'secret'];
    await dataSource.query(
      `CREATE ${isPostgres ? 'ROLE' : 'USER'} ${role} ${isPostgres ? 'LOGIN PASSWORD' : 'IDENTIFIED BY'} 'secret'`,
    );
    for (const privilege of documented) await dataSource.query(`GRANT ${privilege} TO ${role}`);
    try {
      const app = await startForTest(
        { ...database, options: { ...database.options, url: url.href } as DataSourceOptions },
        { users: [], auth },
      );
      expect(await failureOf(app)).toBe('');
      const unneeded: string[] = [];
      for (const privilege of documented) {
        await dataSource.query(`REVOKE ${privilege} FROM ${role}`);
        if ((await failureOf(app)) === '') unneeded.push(privilege);
        await dataSource.query(`GRANT ${privilege} TO ${role}`);
      }
      expect(unneeded).toEqual([]);
    } finally {
      if (isPostgres) await dataSource.query(`DROP OWNED BY ${role}`);
      await dataSource.query(`DROP ${isPostgres ? 'ROLE' : 'USER'} ${role}`);
    }
    const tables = AUTH_ENTITIES.map((entity) => dataSource.getMetadata(entity).tableName);
    expect([...new Set(documented.map((privilege) => privilege.split(' ')[2]))].sort()).toEqual(tables.sort());
  }, 60_000);
});
