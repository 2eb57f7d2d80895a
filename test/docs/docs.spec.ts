import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as library from 'nestjs-session-auth';
import {
  EXTRA_ROWS,
  MAPPING_RULES,
  OPTION_ROWS,
  OPTIONAL_IN_MAPPING,
  type OptionRow,
} from '../../libs/auth/src/options/option-table';
import { documents } from './code-blocks';
import { brokenLinks } from './links';

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
  it('lists every option with its default and its bounds', () => {
    const section = read('README.md').split('\n## Options\n')[1]!.split('\n## ')[0]!;
    const lines = section.split('\n').filter((line) => line.startsWith('| `'));
    const listed = lines.map((line) => line.split(/(?<!\\) ?\| ?/)).map(([, name, byDefault]) => [name, byDefault]);
    const rows = [...OPTION_ROWS, ...EXTRA_ROWS].map(([path, row]) => ({ path, ...row, text: row.defaultText }));
    const mapping = [...MAPPING_RULES].map(([path, rule]) => ({
      path,
      rule,
      text: OPTIONAL_IN_MAPPING.includes(path) ? 'none' : 'required',
      default: undefined,
    }));
    rows.splice(rows.findIndex(({ path }) => path === 'users') + 1, 0, ...mapping);
    expect(listed).toEqual(rows.map((row) => [`\`${row.path}\``, row.text ?? `\`${defaultOf(row)}\``]));
    for (const [index, { rule }] of rows.entries()) {
      const range = rule.range ?? '';
      const bounds = range && ` ${range[0]!.toUpperCase()}${range.slice(1)}. |`;
      expect(lines[index]).toMatch(new RegExp(`${bounds.replace(/[|.]/g, '\\$&')}$`));
    }
  });

  it('lists the signals that there are', () => {
    const signals = words('libs/auth/src/domain/signals.ts', /^ {2}(\w+): \{/gm);
    expect(signals).toHaveLength(11);
    expect([...table('README.md', 'Signals').keys()]).toEqual(signals);
    expect([...read('docs/signals.md').matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name)).toEqual(signals);
  });

  it('lists the events that there are', () => {
    const union = read('libs/auth/src/domain/auth-event.ts').split(';')[0]!;
    const events = [...union.matchAll(/'(\w+)'/g)].map(([, name]) => name);
    expect(events).toHaveLength(13);
    expect([...table('README.md', 'Events').keys()]).toEqual(events);
  });
});

describe('the docstring of an option', () => {
  const source = read('libs/auth/src/options/auth-options.ts');
  const docstrings = new Map(
    [...source.matchAll(/\/\*\*((?:(?!\*\/)[^])*)\*\/\s+(\w+)\??:/g)].map(([, text, name]) => [
      name!,
      text!.replace(/\s+\*?\s*/g, ' '),
    ]),
  );

  it.each([...OPTION_ROWS, ...EXTRA_ROWS].map(([path, row]) => ({ path, row })))(
    'of $path gives its default and its bounds',
    ({ path, row }) => {
      const docstring = docstrings.get(path.split('.').at(-1)!);
      expect(docstring).toContain(` Default: ${defaultOf(row)}`);
      expect(docstring?.toLowerCase()).toContain(row.rule.range?.toLowerCase() ?? '');
    },
  );
});

describe('every document', () => {
  it.each(documents())('%s links to what is there', (file) => {
    const readIfThere = (path: string): string | undefined => {
      if (!existsSync(join(ROOT, path))) return undefined;
      return path.endsWith('.md') ? read(path) : '';
    };
    expect(brokenLinks(file, readIfThere)).toEqual([]);
  });
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
    'AuthCookies',
    'AuthError',
    'AuthErrorFilter',
    'AuthEvent',
    'AuthHealth',
    'AuthLoginFailure',
    'AuthLoginTicket',
    'AuthModule',
    'AuthOptionsError',
    'AuthPasswordReset',
    'AuthService',
    'AuthSession',
    'AuthSetupError',
    'AuthUser',
    'AuthUserLock',
    'BcryptPasswordHasher',
    'BearerAuthGuard',
    'CurrentSession',
    'CurrentUser',
    'DEFAULT_OPTIONS',
    'DeviceDetector',
    'DjangoPbkdf2Hashes',
    'FormerHashes',
    'IS_PUBLIC',
    'MigratingPasswordHasher',
    'OnAuthSignal',
    'OpenSockets',
    'OptionalAuth',
    'PasswordController',
    'PasswordHasher',
    'PrehashedBcryptPasswordHasher',
    'PruningService',
    'Public',
    'RECENT_LOGIN',
    'ReauthenticationController',
    'RequireRecentLogin',
    'SecondFactor',
    'SessionAdministration',
    'SessionsController',
    'TokenSource',
    'UserStore',
    'clientInfoOf',
    'foldName',
    'isPublicRoute',
    'rememberHandshake',
    'socketAccessToken',
  ]);
});

function defaultOf({ default: value, defaultText }: Pick<OptionRow, 'default' | 'defaultText'>): string {
  if (Array.isArray(value)) return JSON.stringify(value);
  return defaultText ?? (typeof value === 'string' ? `'${value}'` : String(value));
}
