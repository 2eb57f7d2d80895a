import { FREQUENT_PASSWORDS } from '../../libs/auth/src/passwords/frequent-passwords';
import { isCommonPassword, predictabilityProblem } from '../../libs/auth/src/passwords/password-policy';

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
  'x7!qx7!qx7!qx7!',
  'abababababababa',
  'XoxoXoxoXoxoXox',
  'passwordpasswor',
  'monkeymonkeymon',
  'qwertyqwertyqwe',
  '123412341234123',
  'password password',
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
  'aabbccddeeffggh',
  'qqwweerrttyyuuii',
  'abbcddeffghhijjk',
  'asdfghjkl1234567890',
  '!@#$%^&*()!!!@#$',
])('the password %s is refused as common', (password) => {
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
  ['passwordpass phrase', 'alice'],
  ['ab cd ef gh ij kl', 'alice'],
  ['assapooreweretyasd', 'alice'],
])('the password %s is accepted for the user %s', (password, username) => {
  expect(problem(password, username)).toBeNull();
});

it('a hundred ordinary passphrases are accepted', () => {
  expect(ORDINARY.length).toBeGreaterThanOrEqual(100);
  expect(ORDINARY.filter((password) => problem(password) !== null)).toEqual([]);
});

it('a password of 4,096 characters is checked in less than two seconds', () => {
  const startedAt = performance.now();
  for (const character of ['a', 'ab', 'q1', 'x'.repeat(1024)]) problem(`${character.repeat(4096 / character.length)}!`);
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});

const ORDINARY = `
the quick brown fox jumps
my cat sleeps on the sofa
summer rain in old vienna
never say never again sam
never say never
round and round it goes
round and round
home sweet home
day after day it rains
step by step we climb up
little by little
tick tock said the clock
we were there as well
see you at the seaside
purple tulips in a vase
bookkeepers keep books
coffee needs more milk
a balloon full of toffee
three green bottles hang
letters from a small town
seven swans a swimming
pass the butter please
where is my other sock
bees buzz in the garden
all good things must end
tomorrow is another day
winter is long up north
an apple a day at least
grandma bakes on fridays
the dog ate my homework
rolling hills and sheep
too many cooks in here
trains are always late
i would rather be sailing
mornings start with tea
the moon is made of cheese
please mind the gap now
a stitch in time saves
old macdonald had a farm
blue skies smiling at me
pizza with extra olives
singing in the bathtub
the keys are in the bowl
my first car was orange
we met in lisbon in may
the library closes at six
snow fell on the harbour
nobody expects the rain
read more books this year
wooden floors that creak
fresh bread on sunday
the cellar smells of wine
a lamp without a shade
two tickets to ljubljana
running late for dinner
ein hund namens hans
morgen regnet es wieder
der kaffee ist schon kalt
la vie est belle ici
une pomme par jour
el gato negro duerme
buenos dias a todos
la casa di mia nonna
correcthorsebatterystaple2
purpletulipsinavase
mydogateallmyhomework
wemetinlisboninmay
sevenswansaswimming
bananabreadandbutter
tennesseemississippi
mississippimudpie
assesspossessions
bookkeeperssucceed
TuesdayIsTacoDay!
Rainy-Day-Umbrella
kettle.lamp.window.tree
river_stone_cloud_fern
Zebra42crossing17blue
gt7Kq-wm3Rp-xz9Lt
8dJ!k2#pQz7vN4s
vM3xq9TzLw2rKb7
49 steps to the attic
route 66 in a red car
1984 was a good book
hunter of lost socks 7
four score and seven
call me ishmael again
it was the best of times
to be or not to be here
so long and thanks fish
polly put the kettle on
humpty dumpty sat there
hickory dickory dock
the cow jumped over it
jack and jill went up
pease porridge in a pot
twinkle little star up
row the boat down there
hot cross buns for two
pat a cake bakers man
ring around the roses
london bridge is down
mary had a little lamb
`
  .trim()
  .split('\n');
