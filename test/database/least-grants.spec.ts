import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiKeys, AUTH_ENTITIES, AuthHealth } from 'nestjs-session-auth';
import type { DataSourceOptions } from 'typeorm';
import { Database } from '../../libs/auth/src/database/database';
import { describeEachPooled, DIALECTS } from '../support/databases';
import { DAY } from '../support/driven-clock';
import { databaseForTest, startForTest } from '../support/start-for-test';
import { PASSWORD, type TestApplication } from '../support/test-application';

const OTHER = 'another passphrase of alice';
const client = { ipAddress: '192.0.2.1', userAgent: 'test' };
let users = 0;

/** Does what applications do with the library. Returns the first failure, or what the library logged about one. */
async function failureOf({ auth, pruning, nest, clock, logs }: TestApplication): Promise<string> {
  logs.length = 0;
  clock.advance(DAY);
  const username = `alice${users++}`;
  try {
    const { id } = await auth.createUser({ username, password: PASSWORD });
    const { ticket } = await auth.verifyCredentials({ username, password: PASSWORD }, client);
    await auth.attempt({ ticket, method: 'otp' }, client, () => true);
    await auth.openSession({ ticket }, client);
    await auth
      .login({ username, password: OTHER }, client)
      .catch(({ code }) => expect(code).toBe('invalid_credentials'));
    const { accessToken: first } = await auth.login({ username, password: PASSWORD }, client);
    const change = { currentPassword: PASSWORD, newPassword: OTHER };
    const pair = await auth.changePassword((await auth.authenticate(first, client))!, change, client);
    const { accessToken } = await auth.refresh(pair.refreshToken, client);
    const principal = (await auth.authenticate(accessToken, client))!;
    const { key } = await nest.get(ApiKeys).create(principal, { name: 'deployment', scopes: ['a'] }, client);
    // The last use of the key is written in the background.
    const run = jest.spyOn(nest.get(Database), 'run');
    await nest.get(ApiKeys).authenticate(key, ['a'], client);
    await Promise.all(run.mock.results.map(({ value }) => value as Promise<unknown>));
    expect(await auth.listSessions(id)).toHaveLength(1);
    await auth.logout(principal, client);
    const { token } = await auth.createPasswordResetToken(id, client);
    await auth.redeemPasswordResetToken(token, PASSWORD, client);
    await auth.disableUser(id, client);
    await auth.forgetUser(id);
    clock.advance(400 * DAY);
    await pruning.prune();
    expect(await nest.get(AuthHealth).check()).toMatchObject({ status: 'up' });
  } catch (error) {
    return String(error);
  }
  return logs.join();
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
        { users: [] },
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
