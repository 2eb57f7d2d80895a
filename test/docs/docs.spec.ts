import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as library from 'nestjs-session-auth';
import { DEFAULT_EXTRAS, DEFAULT_OPTIONS } from '../../libs/auth/src/options/defaults';
import { documents } from './code-blocks';

const ROOT = join(__dirname, '../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** The first cells of the table under a heading, without backticks, with the second ones. */
function table(file: string, heading: string): Map<string, string> {
  const section = read(file).split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!;
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  return new Map(
    rows.map((row) => {
      const [, first, second] = row.split(/(?<!\\)\|/).map((cell) => cell.trim().replace(/`/g, ''));
      return [first!, second!];
    }),
  );
}

/** The members of a union or the keys of an interface in a source file. */
function words(file: string, pattern: RegExp): string[] {
  return [...read(file).matchAll(pattern)].map(([, word]) => word!);
}

describe('the README', () => {
  const options = table('README.md', 'Options');

  it('lists the options that there are', () => {
    expect([...options.keys()]).toEqual([...Object.keys(DEFAULT_OPTIONS), ...Object.keys(DEFAULT_EXTRAS)]);
  });

  it.each(Object.entries({ ...DEFAULT_OPTIONS, ...DEFAULT_EXTRAS }))('tells the default of %s', (name, value) => {
    const told = options.get(name)!;
    if (name === 'hashing') expect(told).toBe(`{ concurrent: cores, waiting: ${DEFAULT_OPTIONS.hashing.waiting} }`);
    else if (typeof value === 'object') expect(told).toBe(inline(value));
    else if (value !== undefined) expect(told).toBe(typeof value === 'string' ? `'${value}'` : String(value));
    else expect(told).not.toBe('');
  });

  it('lists the signals that there are', () => {
    const signals = words('libs/auth/src/domain/signals.ts', /^ {2}(\w+): \{/gm);
    expect(signals).toHaveLength(8);
    expect([...table('README.md', 'Signals').keys()]).toEqual(signals);
    expect([...read('docs/signals.md').matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name)).toEqual(signals);
  });

  it('lists the events that there are', () => {
    const union = read('libs/auth/src/domain/auth-event.ts').split(';')[0]!;
    const events = [...union.matchAll(/'(\w+)'/g)].map(([, name]) => name);
    expect(events).toHaveLength(9);
    expect([...table('README.md', 'Events').keys()]).toEqual(events);
  });
});

describe('every document', () => {
  it.each(documents())('%s links to what is there', (file) => {
    const links = [...read(file).matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link]) => link!);
    expect(links.filter((link) => !existsSync(join(ROOT, dirname(file), link)))).toEqual([]);
  });
});

describe('the table of the ASVS', () => {
  const named = [...read('docs/asvs.md').matchAll(/^\| \d.*\| `(\S+): ?([^`]*)` \|$/gm)];

  it.each(named.map(([, file, title]) => ({ file: file!, title: title! })))(
    'names "$title" in $file, which is there',
    (test) => {
      expect(test.title).not.toBe('');
      expect(read(test.file)).toContain(test.title);
    },
  );

  it('has a row for most of what touches the library', () => expect(named.length).toBeGreaterThan(50));
});

it('the library exports these names and no others', () => {
  expect(Object.keys(library).sort()).toEqual([
    'AUTH_ENTITIES',
    'AUTH_ENTITIES_WITHOUT_USERS',
    'AUTH_MIGRATIONS',
    'AUTH_MIGRATIONS_WITHOUT_USERS',
    'AUTH_OPTIONS',
    'Argon2PasswordHasher',
    'AuthController',
    'AuthError',
    'AuthErrorFilter',
    'AuthEvent',
    'AuthHealth',
    'AuthLoginFailure',
    'AuthModule',
    'AuthOptionsError',
    'AuthPasswordReset',
    'AuthRefreshToken',
    'AuthService',
    'AuthSession',
    'AuthSetupError',
    'AuthUser',
    'AuthUserLock',
    'BcryptPasswordHasher',
    'BearerAuthGuard',
    'CurrentSession',
    'CurrentUser',
    'DeviceDetector',
    'DjangoPbkdf2Hashes',
    'FormerHashes',
    'IS_PUBLIC',
    'MigratingPasswordHasher',
    'OnAuthSignal',
    'OpenSockets',
    'PasswordController',
    'PasswordHasher',
    'PrehashedBcryptPasswordHasher',
    'PruningService',
    'Public',
    'RECENT_LOGIN',
    'RequireRecentLogin',
    'SessionAdministration',
    'SessionsController',
    'TokenSource',
    'UserStore',
    'clientOf',
    'foldName',
    'isPublic',
    'keepHandshake',
    'tokenOfSocket',
  ]);
});

function inline(value: object): string {
  return `{ ${Object.entries(value)
    .map(([key, one]) => `${key}: ${String(one)}`)
    .join(', ')} }`;
}
