import { CountingHasher } from '../support/counting-hasher';
import { describeOn } from '../support/databases';
import { entityOf, GENERATED_ID, mappedUsers, OPTIONAL_TEXT } from '../support/mapped-users';
import { tryLogin, workOf } from '../support/spellings';
import { startForTest } from '../support/start-for-test';
import { type TestApplication, PASSWORD } from '../support/test-application';
import { Tap } from '../support/tap';

const memberWith = (charset: string) =>
  entityOf('Member', {
    id: GENERATED_ID,
    name: { type: 'varchar', charset, unique: true },
    hash: OPTIONAL_TEXT,
  });
const Utf8mb3Member = memberWith('utf8mb3');
const Latin1Member = memberWith('latin1');

const EMOJI = '\u{1f600}';
const CYRILLIC = '\u0430\u043b\u0438\u0441\u0430';
const hasher = new CountingHasher();

describeOn('mysql')('names that the character set of the users cannot represent', (name) => {
  let app: TestApplication;

  async function start(entity: new () => object): Promise<void> {
    const users = { entity, username: 'name', passwordHash: 'hash' };
    app = await startForTest(name, mappedUsers(users, { passwordHasher: hasher }, ['alice', 'jos\u00e9']));
  }

  it.each([
    ['utf8mb3', Utf8mb3Member, [EMOJI, `alice${EMOJI}`]],
    ['latin1', Latin1Member, [EMOJI, CYRILLIC, `alice${CYRILLIC}`]],
  ] as const)(
    'a login with a name that %s cannot represent gets the error, SQL and hashing of an unknown name',
    async (_, entity, names) => {
      await start(entity);
      const tap = new Tap(app);
      const fail = (username: string) =>
        workOf(tap, hasher, async () => expect(await tryLogin(app, username, 'wrong')).toBe('invalid_credentials'));
      const unknown = await fail('nobody');
      for (const name of names) expect(await fail(name)).toEqual(unknown);
      expect(app.logs.filter((line) => line.includes('database failed'))).toEqual([]);
      await app.login('jos\u00e9');
      await app.login('alice');
    },
  );

  it('a user with an unrepresentable name is not created, and the log contains the reason', async () => {
    await start(Latin1Member);
    const members = app.dataSource.getRepository(Latin1Member);
    const before = await members.count();
    const create = app.auth.createUser({ username: CYRILLIC, password: PASSWORD });
    await expect(create).rejects.toMatchObject({ code: 'database_unavailable' });
    expect(app.logs.filter((line) => line.includes('database failed'))).toEqual([
      expect.stringMatching(/(?:1267|3988).*Convert the column to utf8mb4/),
    ]);
    expect(await members.count()).toBe(before);
  });

  it('resetFailedLogins() with an unrepresentable name does not fail a transaction of the application', async () => {
    await start(Latin1Member);
    await app.dataSource.transaction(async (manager) => {
      await app.auth.inTransaction(manager).resetFailedLogins(CYRILLIC);
      await manager.update(Latin1Member, { name: 'alice' }, { name: 'bob' });
    });
    await app.login('bob');
  });
});
