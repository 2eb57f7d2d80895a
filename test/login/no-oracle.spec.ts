import { AuthUser } from 'nestjs-session-auth';
import { CountingHasher } from '../support/counting-hasher';
import { PASSWORD } from '../support/test-application';
import { workOf } from '../support/spellings';
import { INVALID_CREDENTIALS, postJson, type RawAnswer, describeEverywhere } from '../support/environment';

const hasher = new CountingHasher();
const options = { users: ['alice', 'bob', 'carol'], auth: { passwordHasher: hasher } };

/** The reasons for a refused login, and what to change about the user first. */
const CASES: readonly [cause: string, username: string, password: string, change?: Partial<AuthUser>][] = [
  ['a wrong password', 'alice', 'wrong'],
  ['an unknown name', 'nobody', PASSWORD],
  ['a disabled user', 'bob', PASSWORD, { active: false }],
  ['a wrong password of a disabled user', 'bob', 'wrong'],
  ['a user without a password', 'carol', PASSWORD, { passwordHash: null }],
  ['an empty stored hash', 'carol', PASSWORD, { passwordHash: '' }],
  ['a stored hash that is none', 'carol', PASSWORD, { passwordHash: '!' }],
  ['a stored hash of hostile cost', 'carol', PASSWORD, { passwordHash: `$2b$31$${'a'.repeat(53)}` }],
  ['a password over 72 bytes', 'alice', 'x'.repeat(73)],
  ['a password of 4,096 bytes', 'alice', 'x'.repeat(4096)],
];

describeEverywhere('refused logins', options, ({ app, tap }) => {
  it('a refused login has the same response, statements and hash cost whatever the cause of the refusal is', async () => {
    const seen: object[] = [];
    for (const [cause, username, password, change] of CASES) {
      if (change) await app.dataSource.getRepository(AuthUser).update({ username }, change);
      let answer!: RawAnswer;
      const login = async () =>
        void (answer = await postJson(app, '/auth/login/', JSON.stringify({ username, password })));
      const { statements, verified } = await workOf(tap, hasher, login);
      const { status, headers, body, bytes } = answer;
      seen.push({ cause, bytes, statements, costs: verified.map((hash) => hash.split('$')[2]) });
      expect([status, headers['cache-control'], JSON.parse(body)]).toEqual([400, 'no-store', INVALID_CREDENTIALS]);
      expect(statements.length).toBeGreaterThan(4);
    }
    for (const [index, [cause]] of CASES.entries()) expect(seen[index]).toEqual({ ...seen[0], cause, costs: ['04'] });
    const { verified } = await workOf(tap, hasher, () => app.login());
    expect(verified).toHaveLength(1);
  });
});
