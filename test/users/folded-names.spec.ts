import { createHash } from 'node:crypto';
import { AuthUser, type UserEntityMapping } from 'nestjs-session-auth';
import { hashSync } from 'bcrypt';
import { Column } from 'typeorm';
import { CountingHasher } from '../support/counting-hasher';
import { DATABASES } from '../support/databases';
import { entityOf, GENERATED_ID, mappedUsers, TEXT, TEXT_ID, UNIQUE_TEXT } from '../support/mapped-users';
import { startForTest } from '../support/start-for-test';
import { type TestApplication, PASSWORD } from '../support/test-application';
import { fullWidth, tryLogin } from '../support/spellings';

const foldedEmail = { type: 'varchar', unique: true, nullable: true } as const;
const Member = entityOf('Member', { id: GENERATED_ID, email: TEXT, foldedEmail, password: TEXT });
const MEMBERS = { entity: Member, username: 'email', foldedUsername: 'foldedEmail', passwordHash: 'password' };

const Subscriber = entityOf('Subscriber', { id: GENERATED_ID, email: UNIQUE_TEXT, password: TEXT });
const LoginName = entityOf('LoginName', { id: TEXT_ID, name: TEXT, password: TEXT });
const Player = entityOf('Player', { id: GENERATED_ID, password: TEXT });
Column(() => entityOf('Identity', { name: TEXT, folded: UNIQUE_TEXT }))(Player.prototype, 'identity');
const passwordHash = 'password';

const hasher = new CountingHasher();
const HASH = hashSync(PASSWORD, 4);
const MINE = 'the password of mallory';
const TAKEN = { code: 'username_taken' };

const optionsOf = (users: UserEntityMapping) =>
  mappedUsers(users, { nameMatching: 'insensitive', passwordHasher: hasher }, ['Alice']);

describe("the library's own users with folded names", () => {
  it('a rename that does not change the folded name is logged once, with the code to write', async () => {
    const app = await startForTest('sqlite');
    await app.dataSource.getRepository(AuthUser).update({ username: 'alice' }, { username: 'carol' });
    for (let i = 0; i < 2; i++) expect(await tryLogin(app, 'alice', PASSWORD)).toBe('invalid_credentials');
    expect(app.logs.filter((line) => line.includes('of AuthUser'))).toEqual([
      expect.stringContaining('Set usernameKey to the SHA-256 digest of the name in hexadecimal whenever'),
    ]);
    const usernameKey = createHash('sha256').update('carol').digest('hex');
    await app.dataSource.getRepository(AuthUser).update({ username: 'carol' }, { usernameKey });
    await app.login('carol');
  });
});

describe.each(DATABASES)('case-insensitive names in a mapped entity on %s', (name) => {
  let app: TestApplication;
  const start = async (users: UserEntityMapping): Promise<void> =>
    void (app = await startForTest(name, optionsOf(users)));

  it('a login finds the user in every spelling, and a second user with a different spelling is refused', async () => {
    await start(MEMBERS);
    for (const spelling of ['alice', 'ALICE', fullWidth('Alice'), fullWidth('ALICE')]) {
      const { access_token: token } = await app.login(spelling);
      await app.get('/me', token).expect(200);
      const create = app.auth.createUser({ username: spelling, password: PASSWORD });
      await expect(create).rejects.toMatchObject(TAKEN);
    }
    for (const other of ['\u00e1lice', 'alice ', 'alice.']) {
      expect(await tryLogin(app, other, PASSWORD)).toBe('invalid_credentials');
    }
    const carol = await app.auth.createUser({ username: fullWidth('Carol'), password: PASSWORD });
    expect(carol.username).toBe(fullWidth('Carol'));
    await app.login('carol');
    const rows = await app.dataSource.getRepository(Member).find({ order: { id: 'ASC' } });
    expect(rows.map(({ email, foldedEmail }) => [email, foldedEmail])).toEqual([
      ['Alice', 'alice'],
      [fullWidth('Carol'), 'carol'],
    ]);
  });

  it('only one of two users who are created at the same time in two spellings is created', async () => {
    await start(MEMBERS);
    const both = ['bob', fullWidth('BoB')].map((username) => app.auth.createUser({ username, password: PASSWORD }));
    const refused = (await Promise.allSettled(both)).filter((one) => one.status === 'rejected');
    expect(refused).toMatchObject([{ reason: TAKEN }]);
    await app.login('BOB');
  });

  it('all spellings share one failure streak, and a login under a similar name does not end it', async () => {
    await start(MEMBERS);
    const members = app.dataSource.getRepository(Member);
    const { password: hash } = await members.findOneByOrFail({ foldedEmail: 'alice' });
    const twins: { email: string; foldedEmail: string | null }[] = [
      // This name is in lower case, but not normalized. A database whose collation treats the name as equal to
      // `alice` refuses the row.
      { email: fullWidth('Alice'), foldedEmail: fullWidth('alice') },
      { email: 'Alice', foldedEmail: 'mallory' },
      { email: 'ALICE', foldedEmail: null },
    ];
    const rows = twins.map((twin) => ({ ...twin, password: hashSync(MINE, 4) }));
    await members.createQueryBuilder().insert().values(rows).orIgnore().execute();
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 9; i++) await tryLogin(app, 'alice', `guess ${i}`);
      for (const { email } of twins) expect(await tryLogin(app, email, MINE)).not.toBe('ok');
    }
    expect(hasher.verified.filter((one) => one === hash)).toHaveLength(10);
    expect(await tryLogin(app, 'ALICE', PASSWORD)).toBe('too_many_attempts');
  });

  it.each([
    ['the name without folding', 'Bob', 'Bob'],
    ['the name in lower case without normalization', fullWidth('Bob'), fullWidth('bob')],
    ['the name of another user', 'bob', 'carol'],
    ['a trailing space', 'bob', 'bob '],
    ['an accent', 'bob', 'b\u00f3b'],
    ['NULL', 'bob', null],
  ])('a login finds nobody whose folded column contains %s', async (_, email, foldedEmail) => {
    await start(MEMBERS);
    await app.dataSource.getRepository(Member).insert({ email, foldedEmail, password: HASH });
    const names = new Set(['bob', 'Bob', 'carol', 'bob ', 'b\u00f3b', email, fullWidth('bob')]);
    for (const one of names) expect(await tryLogin(app, one, PASSWORD)).toBe('invalid_credentials');
  });

  it('a login finds nobody by a name that was changed without its folded form, and logs once how to fix that', async () => {
    await start(MEMBERS);
    const members = app.dataSource.getRepository(Member);
    const { id } = await members.findOneByOrFail({ foldedEmail: 'alice' });
    await members.update(id, { email: 'carol' });
    const logged = (): string[] => app.logs.filter((line) => line.includes('of Member'));
    for (const spelling of ['carol', 'alice', 'Alice']) {
      expect(await tryLogin(app, spelling, PASSWORD)).toBe('invalid_credentials');
      if (spelling === 'carol') expect(logged()).toEqual([]);
    }
    expect(logged()).toEqual([
      expect.stringMatching(
        /^In the row of Member with the id 1, foldedEmail does not match.* Set foldedEmail to foldName\(name\) whenever/,
      ),
    ]);
    expect(app.logs.join('\n')).not.toMatch(/alice|carol/);
    await members.update(id, { foldedEmail: 'carol' });
    await app.login('Carol');
  });

  it.each<[string, UserEntityMapping]>([
    ['in the column of the names', { entity: Subscriber, username: 'email', foldedUsername: 'email', passwordHash }],
    [
      'in an embedded entity',
      { entity: Player, username: 'identity.name', foldedUsername: 'identity.folded', passwordHash },
    ],
    ['as ids', { entity: LoginName, username: 'name', foldedUsername: 'id', passwordHash }],
  ])('folded names can be stored %s', async (_, users) => {
    await start(users);
    await app.login(fullWidth('ALICE'));
    await expect(app.auth.createUser({ username: 'aLICE', password: null })).rejects.toMatchObject(TAKEN);
    expect(JSON.stringify(await app.dataSource.getRepository(users.entity).find())).toContain('"alice"');
  });
});
