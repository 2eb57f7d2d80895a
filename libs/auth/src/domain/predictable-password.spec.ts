import { isCommonPassword } from './common-passwords';
import { FREQUENT_PASSWORDS } from './frequent-passwords';
import { predictabilityProblem } from './predictable-password';

const problem = (password: string, username = 'alice'): string | null => predictabilityProblem(password, username);
const COMMON = 'This password is too common.';

it.each([
  'password1234567890',
  'PassWord1234567890',
  'thisismypassword',
  'CorrectHorseBatteryStaple',
  'ｐａｓｓｗｏｒｄ',
  'passwordpassword',
  'PasswordPASSWORD',
  'letmeinletmeinletmein',
  'x7!qx7!qx7!qx7!q',
  'aaaaaaaaaaaaaaa',
  '\u{1f511}'.repeat(15),
  '111222333444555',
  '112233445566778899',
  '123456789012345',
  '987654321098765',
  'abcdefghijklmno',
  'zyxwvutsrqponml',
  'abcd1234efgh5678',
  'qwertyuiopasdfgh',
  'QWERTYuiop123456',
  '1qaz2wsx3edc4rfv',
  'zaq12wsxcde34rfv',
  '1q2w3e4r5t6y7u8i',
  'qwertzuiopasdfgh',
  'azertyuiopqsdfgh',
  'aaabbbcccdddeee',
  'asdfghjkl1234567890',
  '!@#$%^&*()!!!@#$',
])('the password %s is refused as common', (password) => {
  expect(problem(password)).toBe(COMMON);
});

describe('of the passwords that leaked most often', () => {
  const frequent = FREQUENT_PASSWORDS.trim().split(' ');
  const lengthOf = (password: string): number => [...password].length;

  it.each([8, 9, 10, 11, 12, 13, 14, 15, 16, 17])(
    'at least 3,000 of %i and more characters are refused, in upper case too',
    (minLength) => {
      const fitting = frequent.filter((password) => lengthOf(password) >= minLength);
      expect(fitting.length).toBeGreaterThanOrEqual(3_000);
      expect(fitting.filter((password) => problem(password.toUpperCase()) !== COMMON)).toEqual([]);
    },
  );

  it('each is there once, in the form in which passwords are compared', () => {
    expect(new Set(frequent).size).toBe(frequent.length);
    expect(frequent.filter((password) => password !== password.normalize('NFKC').toLowerCase())).toEqual([]);
    expect(Math.min(...frequent.map(lengthOf))).toBe(8);
  });

  it.each([frequent.slice(50, 52).join(' '), frequent[50]!.slice(0, -1), `${frequent[50]!}!`, ' '.repeat(8)])(
    'a part of one, or two with a space, is not one: "%s"',
    (password) => expect(isCommonPassword(password)).toBe(false),
  );
});

it.each([
  ['my name is alice!', 'alice'],
  ['ALICE in wonderland', 'alice'],
  ['this is aLiCe@example.com', 'Alice@Example.com'],
])('the password %s is refused for the name %s', (password, username) => {
  expect(problem(password, username)).toBe('This password contains the name of the user.');
});

it.each([
  ['correct horse battery staple', 'alice'],
  ['a password that is new', 'alice'],
  ['password is not the word', 'alice'],
  ['passwordpassword!', 'alice'],
  ['Tr0ub4dor&3 and more', 'alice'],
  ['qwerty is my keyboard', 'alice'],
  ['bob builds a house', 'bob'],
  ['al ice is cold here', 'alice'],
  ['alice likes cakes!!', 'alice@example.com'],
  ['we were there as well', 'alice'],
  ['x7!qx7!qx7!qx7!', 'alice'],
])('the password %s is accepted of %s', (password, username) => {
  expect(problem(password, username)).toBeNull();
});

it('a long password is judged quickly', () => {
  const startedAt = performance.now();
  for (const character of ['a', 'ab', 'q1']) problem(`${character.repeat(4096 / character.length)}!`);
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});
