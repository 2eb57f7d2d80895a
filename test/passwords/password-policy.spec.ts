import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AuthUser } from 'nestjs-session-auth';
import { FREQUENT_PASSWORDS } from '../../libs/auth/src/passwords/frequent-passwords';
import { isCommonPassword, predictabilityProblem } from '../../libs/auth/src/passwords/password-policy';
import { describeApplication, restorePassword } from '../support/environment';

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

it('passwords are accepted that contain a very short name or a part of the name', () => {
  expect(problem('bob builds a house', 'bob')).toBeNull();
  expect(problem('alice likes cakes!!', 'alice@example.com')).toBeNull();
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
  const refuse = async (password: string, problem: string): Promise<void> =>
    void (await app
      .changePassword((await app.login()).access_token, password)
      .expect(400, { new_password: [problem] }));

  it('a new password has at least the configured length, counted in characters of any script', async () => {
    await refuse('\u{1f511}'.repeat(11), 'Ensure this field has at least 12 characters.');
    const keys = Array.from({ length: 12 }, (_, i) => String.fromCodePoint(0x1f400 + i * i));
    await app.changePassword((await app.login()).access_token, keys.join('')).expect(200);
    await restorePassword(app);
  });

  it('a password that is easy to guess is refused by every call that sets a password', async () => {
    const id = await app.userId();
    const { token } = await app.auth.createPasswordResetToken(id);
    for (const guessed of ['PasswordPassword', 'thisismypassword', 'qwertyuiop12345']) {
      await refuse(guessed, COMMON);
      const refused = { code: 'invalid_field', fields: { new_password: [COMMON] } };
      await expect(app.auth.resetPassword(id, guessed)).rejects.toMatchObject(refused);
      await expect(app.auth.redeemPasswordResetToken(token, guessed)).rejects.toMatchObject(refused);
      const create = app.auth.createUser({ username: 'carol', password: guessed });
      await expect(create).rejects.toMatchObject({ code: 'invalid_field', fields: { password: [COMMON] } });
    }
    await refuse('here is ALICE again', 'This password contains the username.');
    const carol = await app.auth.createUser({ username: 'carol', password: 'aaaaaaaa' }, { skipPolicy: true });
    await app.dataSource.getRepository(AuthUser).delete({ id: String(carol.id) });
  });

  it('a new password must pass the check of the application, which receives the username', async () => {
    for (const known of ['password and more', 'ali with forty thieves']) await refuse(known, 'This password is known.');
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
