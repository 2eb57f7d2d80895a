import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AuthUser } from 'nestjs-session-auth';
import { FREQUENT_PASSWORDS } from '../../libs/auth/src/passwords/frequent-passwords';
import { isCommonPassword, predictabilityProblem } from '../../libs/auth/src/passwords/password-policy';
import { describeApplication, restorePassword } from '../support/environment';
import { PASSWORD, type TestApplication } from '../support/test-application';

const problem = (password: string, username = 'alice'): string | null => predictabilityProblem(password, [username]);
const passwordsIn = (file: string): string[] => readFileSync(join(__dirname, file), 'utf8').trim().split('\n');
const COMMON = 'This password is too common.';

it.each(passwordsIn('common-passwords.txt'))('the password %s is refused as common', (password) => {
  expect(problem(password)).toBe(COMMON);
});

describe('the list of frequently leaked passwords', () => {
  const frequent = FREQUENT_PASSWORDS.trim().split(' ');
  const lengthOf = (password: string): number => [...password].length;

  it.each([8, 9, 10, 11, 12, 13, 14, 15, 16, 17])(
    'at least 3,000 leaked passwords with %i or more characters are refused, also in upper case',
    (minLength) => {
      const fitting = frequent.filter((password) => lengthOf(password) >= minLength);
      expect(fitting.length).toBeGreaterThanOrEqual(3_000);
      expect(fitting.filter((password) => problem(password.toUpperCase()) !== COMMON)).toEqual([]);
    },
  );

  it('contains each password once, normalized and in lower case', () => {
    expect(new Set(frequent).size).toBe(frequent.length);
    expect(frequent.filter((password) => password !== password.normalize('NFKC').toLowerCase())).toEqual([]);
    expect(Math.min(...frequent.map(lengthOf))).toBe(8);
  });

  it.each([frequent.slice(50, 52).join(' '), frequent[50]!.slice(0, -1), `${frequent[50]!}!`, ' '.repeat(8)])(
    'does not match a part or an extension of a listed password, or two listed passwords: "%s"',
    (password) => expect(isCommonPassword(password)).toBe(false),
  );
});

it.each([
  ['my name is alice!', 'alice'],
  ['they call me ΝΙΚΟΣΑΝ', 'ΝΙΚΟΣ'],
  ['ALICE in wonderland', 'alice'],
  ['this is aLiCe@example.com', 'Alice@Example.com'],
])('the password %s is refused for the user %s', (password, username) => {
  expect(problem(password, username)).toBe('This password contains the username.');
});

it.each([
  ['bob builds a house', 'bob'],
  ['alice likes cakes!!', 'alice@example.com'],
])('the password %s is accepted for the user %s', (password, username) => {
  expect(problem(password, username)).toBeNull();
});

it.each([
  ['8', ['babygirl', 'cerberus', '30121988']],
  ['15', ['xf6cmqlrpeuhjuvv', 'masha0663655464', 'zcfvfzkelifz123']],
])('leaked passwords of %s or more characters at about the ranks 100, 1,000 and 3,000 are refused', (_, passwords) => {
  expect(passwords.map((password) => problem(password))).toEqual([COMMON, COMMON, COMMON]);
});

it('a hundred ordinary passphrases are accepted', () => {
  const ordinary = passwordsIn('ordinary-passphrases.txt');
  expect(ordinary.length).toBeGreaterThanOrEqual(100);
  expect(ordinary.filter((password) => problem(password) !== null)).toEqual([]);
});

it('a password of 4,096 characters is checked in less than two seconds', () => {
  const startedAt = performance.now();
  for (const character of ['a', 'ab', 'q1', 'x'.repeat(1024)]) problem(`${character.repeat(4096 / character.length)}!`);
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});

describeApplication('new passwords', { auth: { passwordPolicy: { minLength: 12, check: isKnown } } }, ({ app }) => {
  const change = async (app: TestApplication, password: string): Promise<{ status: number; body: unknown }> => {
    const { access_token: token } = await app.login();
    return app.post('/auth/password/change', token, { current_password: PASSWORD, new_password: password });
  };

  it('a new password has at least the configured length, counted in characters of any script', async () => {
    const refused = await change(app, '\u{1f511}'.repeat(11));
    expect([refused.status, refused.body]).toEqual([
      400,
      { new_password: ['Ensure this field has at least 12 characters.'] },
    ]);
    const keys = Array.from({ length: 12 }, (_, i) => String.fromCodePoint(0x1f400 + i * i));
    expect((await change(app, keys.join(''))).status).toBe(200);
    await restorePassword(app);
  });

  it('a password that is easy to guess is refused by every call that sets a password', async () => {
    const id = await app.userId();
    const common = ['This password is too common.'];
    for (const guessed of ['PasswordPassword', 'thisismypassword', 'qwertyuiop12345']) {
      expect(await change(app, guessed)).toMatchObject({ status: 400, body: { new_password: common } });
      const refused = { code: 'invalid_field', fields: { new_password: common } };
      await expect(app.auth.resetPassword(id, guessed)).rejects.toMatchObject(refused);
      const { token } = await app.auth.createPasswordResetToken(id);
      await expect(app.auth.redeemPasswordResetToken(token, guessed)).rejects.toMatchObject(refused);
      const create = app.auth.createUser({ username: 'carol', password: guessed });
      await expect(create).rejects.toMatchObject({ code: 'invalid_field', fields: { password: common } });
    }
    const named = await change(app, 'here is ALICE again');
    expect(named.body).toEqual({ new_password: ['This password contains the username.'] });
    const carol = await app.auth.createUser({ username: 'carol', password: 'aaaaaaaa' }, { skipPolicy: true });
    await app.dataSource.getRepository(AuthUser).delete({ id: String(carol.id) });
  });

  it('a new password must pass the check of the application, which receives the username', async () => {
    for (const known of ['password and more', 'ali with forty thieves']) {
      const { status, body } = await change(app, known);
      expect([status, body]).toEqual([400, { new_password: ['This password is known.'] }]);
    }
    await app.login();
    const create = app.auth.createUser({ username: 'carol', password: 'password and more' });
    await expect(create).rejects.toMatchObject({ fields: { password: ['This password is known.'] } });
    const reset = app.auth.resetPassword(await app.userId(), 'short');
    await expect(reset).rejects.toMatchObject({ code: 'invalid_field' });
  });
});

const PREDICTABLE = { auth: { passwordPolicy: { allowPredictable: true, minLength: 8, check: isKnown } } };

describeApplication('new passwords without the check for predictable passwords', PREDICTABLE, ({ app }) => {
  it('a predictable password is accepted, but a short one or one that fails the check of the application is refused', async () => {
    const id = await app.userId();
    for (const password of ['letmeinletmein', 'qwertyuiop12345', 'here is alice']) {
      await app.auth.resetPassword(id, password);
      await app.login('alice', password);
    }
    for (const [password, problem] of [
      ['aaaaaaa', 'Ensure this field has at least 8 characters.'],
      ['passwordpassword', 'This password is known.'],
    ] as const) {
      const refused = { code: 'invalid_field', fields: { new_password: [problem] } };
      await expect(app.auth.resetPassword(id, password)).rejects.toMatchObject(refused);
    }
    await restorePassword(app);
  });
});

function isKnown(password: string, { username }: { username: string }): Promise<string | null> {
  const isBad = password.startsWith('password') || password.startsWith(username.slice(0, 3));
  return Promise.resolve(isBad ? 'This password is known.' : null);
}
