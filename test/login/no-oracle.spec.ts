import { AuthUser } from 'nestjs-session-auth';
import { BcryptPasswordHasher } from '../../libs/auth/src/adapters/hashers/bcrypt-password-hasher';
import { CountingHasher } from '../support/counting-hasher';
import { PASSWORD, type TestApplication } from '../support/test-application';
import { workOf } from '../support/spellings';
import { postJson, describeOnEachDatabase } from '../support/environment';

const hasher = new CountingHasher();

async function setHash(app: TestApplication, username: string, passwordHash: string | null): Promise<void> {
  await app.dataSource.getRepository(AuthUser).update({ username }, { passwordHash });
}

/** The reasons for a refused login, and how to create each case. */
const CASES: [cause: string, username: string, password?: string, make?: (app: TestApplication) => Promise<void>][] = [
  ['a wrong password', 'alice', 'wrong'],
  ['an unknown name', 'nobody'],
  ['a disabled user', 'bob', PASSWORD, (app) => app.setActive('bob', false)],
  ['a user without a password', 'carol', PASSWORD, (app) => setHash(app, 'carol', null)],
  ['an empty stored hash', 'carol', PASSWORD, (app) => setHash(app, 'carol', '')],
  ['a stored hash that is none', 'carol', PASSWORD, (app) => setHash(app, 'carol', '!')],
  ['a stored hash of hostile cost', 'carol', PASSWORD, (app) => setHash(app, 'carol', `$2b$31$${'a'.repeat(53)}`)],
  ['a password over 72 bytes', 'alice', 'x'.repeat(73)],
  ['a password of 4,096 bytes', 'alice', 'x'.repeat(4096)],
];

const options = { users: ['alice', 'bob', 'carol'], auth: { passwordHasher: hasher } };

describeOnEachDatabase('refused logins', options, ({ app, tap }) => {
  it('a refused login has the same response, statements and hash cost whatever the cause of the refusal is', async () => {
    const seen: Record<string, { bytes: string; statements: readonly string[]; costs: (string | undefined)[] }> = {};
    for (const [cause, username, password = PASSWORD, make] of CASES) {
      await make?.(app);
      let bytes = '';
      const login = async () =>
        void ({ bytes } = await postJson(app, '/auth/login/', JSON.stringify({ username, password })));
      const { statements, verified } = await workOf(tap, hasher, login);
      seen[cause] = { bytes, statements, costs: verified.map((hash) => hash.split('$')[2]) };
    }
    const [first, ...others] = Object.values(seen);
    expect(first!.bytes).toContain('Invalid credentials.');
    expect(first!.statements.length).toBeGreaterThan(4);
    expect(first!.costs).toEqual(['04']);
    for (const other of others) expect(other).toEqual(first);
    hasher.verified.length = 0;
    await app.login();
    expect(hasher.verified).toHaveLength(1);
  });
});

describeOnEachDatabase('the dummy hash for unknown names', { auth: { bcryptCost: 5 } }, ({ app }) => {
  it('the dummy hash has the configured cost', async () => {
    const verify = jest.spyOn(BcryptPasswordHasher.prototype, 'verify');
    await app.http.post('/auth/login').send({ username: 'nobody', password: 'wrong' }).expect(400);
    expect(verify.mock.calls.map(([, hash]) => hash.slice(0, 7))).toEqual(['$2b$05$']);
    verify.mockRestore();
  });
});
