import type { UserEntityMapping } from 'nestjs-session-auth';
import { hashSync } from 'bcrypt';
import { describeOnEachDatabase } from '../support/environment';
import { entityOf, GENERATED_ID, mappedUsers, OPTIONAL_TEXT, TEXT, TEXT_ID } from '../support/mapped-users';
import { tryLogin } from '../support/spellings';
import { startForTest } from '../support/start-for-test';
import { PASSWORD, type TestApplication } from '../support/test-application';

const UNIQUE = { type: 'varchar', unique: true, nullable: true } as const;
const Member = entityOf('members', { id: GENERATED_ID, email: UNIQUE, handle: UNIQUE, password: TEXT });
const MEMBERS = { entity: Member, username: ['email', 'handle'], passwordHash: 'password' };
const TAKEN = { code: 'username_taken' };
const OTHER = 'the other password of bob';

const create = (app: TestApplication, email: string, handle?: unknown, password = PASSWORD) =>
  app.auth.createUser({ username: email, password, ...(handle === undefined ? {} : { properties: { handle } }) });
const rename = (app: TestApplication, email: string, values: object) =>
  app.dataSource.getRepository(Member).update({ email }, values);

describeOnEachDatabase('users with several names', mappedUsers(MEMBERS), ({ app }) => {
  beforeEach(async () => {
    await app.dataSource.getRepository(Member).clear();
    await create(app, 'alice@example.com', 'alice');
    await create(app, 'bob@example.com', undefined, OTHER);
  });

  it('a user logs in with each name, and `request.user` has the first one', async () => {
    for (const name of ['alice@example.com', 'alice']) {
      const { access_token: token } = await app.login(name);
      const principal = (await app.auth.authenticate(token))!;
      expect(await app.auth.loadUser(principal)).toMatchObject({ email: 'alice@example.com', handle: 'alice' });
    }
    const { user } = await app.auth.verifyCredentials({ username: 'alice', password: PASSWORD });
    expect(user.username).toBe('alice@example.com');
    expect(await tryLogin(app, 'null', OTHER)).toBe('invalid_credentials');
  });

  it.each([
    ['the username is the handle of another user', 'alice', undefined],
    ['the handle is the username of another user', 'carol@example.com', 'alice@example.com'],
    ['the handle is that of another user', 'carol@example.com', 'alice'],
  ])('createUser() refuses a user if %s', async (_, email, handle) => {
    await expect(create(app, email, handle)).rejects.toMatchObject(TAKEN);
    expect(await app.dataSource.getRepository(Member).count()).toBe(2);
  });

  it('createUser() checks each name, and refuses a password that contains one', async () => {
    for (const handle of ['', 7, 'al\u200bice', 'x'.repeat(256)]) {
      const fields = { handle: [expect.any(String)] };
      await expect(create(app, 'carol@example.com', handle)).rejects.toMatchObject({ code: 'invalid_field', fields });
    }
    const weak = create(app, 'carol@example.com', 'rosebud', 'my old rosebud sledge');
    await expect(weak).rejects.toMatchObject({ fields: { password: ['This password contains the username.'] } });
    await create(app, 'carol@example.com', null);
    await create(app, 'dave@example.com', 'dave@example.com');
  });

  it('a user whose handle is the email address of another user cannot log in as that user, or keep that user out', async () => {
    await rename(app, 'bob@example.com', { handle: 'alice@example.com' });
    expect(await tryLogin(app, 'alice@example.com', OTHER)).toBe('invalid_credentials');
    await app.login('alice@example.com');
    await rename(app, 'bob@example.com', { handle: null });
    await rename(app, 'bob@example.com', { email: 'alice' });
    expect(await tryLogin(app, 'alice', PASSWORD)).toBe('invalid_credentials');
    expect(await tryLogin(app, 'alice', OTHER)).toBe('ok');
  });
});

it('createUser() checks the first name also if the property of the second one is named username', async () => {
  const entity = entityOf('members', { id: GENERATED_ID, email: UNIQUE, username: UNIQUE, password: TEXT });
  const app = await startForTest('sqlite', mappedUsers({ ...MEMBERS, entity, username: ['email', 'username'] }));
  const create = (username: string, second: string, password = PASSWORD): Promise<unknown> =>
    app.auth.createUser({ username, password, properties: { username: second } });
  await create('alice@example.com', 'alice');
  await expect(create('alice', 'bob')).rejects.toMatchObject(TAKEN);
  await expect(create('bob\u200b', 'bob')).rejects.toMatchObject({ code: 'invalid_field' });
  await expect(create('rosebud', 'bob', 'my old rosebud sledge')).rejects.toMatchObject({ code: 'invalid_field' });
  await expect(create('bob', 'alice@example.com')).rejects.toMatchObject(TAKEN);
});

const Unindexed = entityOf('members', { id: GENERATED_ID, email: TEXT, handle: OPTIONAL_TEXT, password: TEXT });

describeOnEachDatabase(
  'several names that are not unique',
  mappedUsers({ ...MEMBERS, entity: Unindexed }),
  ({ app }) => {
    it('a name that two users have in one property logs none of them in, also if it is the later name of a third user, and the problem is logged once', async () => {
      const insert = (email: string, handle: string | null): Promise<unknown> => {
        const row = { email, handle, password: hashSync(PASSWORD, 4) };
        return app.dataSource.getRepository('members').insert(row);
      };
      for (let i = 0; i < 12; i++) await insert(`${i}`, 'alice');
      expect(await tryLogin(app, 'alice', PASSWORD)).toBe('invalid_credentials');
      await insert('alice', null);
      expect(await tryLogin(app, 'alice', PASSWORD)).toBe('ok');
      await insert('alice', null);
      expect(await tryLogin(app, 'alice', PASSWORD)).toBe('invalid_credentials');
      expect(app.logs.filter((line) => line.startsWith('Several rows'))).toEqual([
        expect.stringMatching(/^Several rows of members have the same handle, .*unique index/),
      ]);
      await expect(create(app, 'carol')).rejects.toMatchObject({ code: 'not_supported' });
    });
  },
);

it('startup names the index to create for each name that is not unique', async () => {
  const app = await startForTest('sqlite', mappedUsers({ ...MEMBERS, entity: Unindexed }));
  const warned = app.logs.filter((line) => line.includes('no unique index'));
  expect(warned).toEqual([/'email'/, /'handle'/].map((one) => expect.stringMatching(one) as string));
});

const NAMES = { handle: TEXT_ID, email: TEXT, foldedEmail: UNIQUE, foldedHandle: UNIQUE } as const;
const Folded = entityOf('folded', { ...NAMES, password: TEXT });
const FOLDED: UserEntityMapping = {
  entity: Folded,
  username: ['email', 'handle'],
  foldedUsername: ['foldedEmail', 'foldedHandle'],
  passwordHash: 'password',
};

describeOnEachDatabase(
  'several folded names, of which one is the id',
  mappedUsers(FOLDED, { nameMatching: 'insensitive' }),
  ({ app }) => {
    it('every spelling of every name is taken, and ends no session of the user who has it', async () => {
      const { id } = await create(app, 'Alice@Example.com', 'Alice');
      expect(id).toBe('Alice');
      const { access_token: token } = await app.login('ALICE');
      await app.login('alice@example.com');
      await expect(create(app, 'bob@example.com', 'ALICE@example.com')).rejects.toMatchObject(TAKEN);
      for (const handle of ['Alice', 'aLICE']) {
        await expect(create(app, 'bob@example.com', handle)).rejects.toMatchObject(TAKEN);
      }
      await app.get('/me', token).expect(200);
    });
  },
);
