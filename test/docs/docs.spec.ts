import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as library from 'nestjs-session-auth';
import { AUTH_EVENT_NAMES } from '../../libs/auth/src/database/entities';
import { EXTRA_ROWS, MAPPING_RULES, OPTION_ROWS } from '../../libs/auth/src/options/option-table';
import { documents } from './code-blocks';
import { declaredOptions, defaultOf, optionsPage, rangeOf } from './options-page';
import { brokenLinks } from '../../website/links';

const ROOT = join(__dirname, '../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** Returns the first capture group of each match in a file. */
function words(file: string, pattern: RegExp): string[] {
  return [...read(file).matchAll(pattern)].map(([, word]) => word!);
}

describe('the reference of signals and events', () => {
  it('docs/signals.md lists exactly the signals of the library', () => {
    const signals = words('libs/auth/src/history/signals.ts', /^ {2}(\w+): \{/gm);
    expect(signals).toHaveLength(11);
    expect(
      [
        ...read('docs/signals.md')
          .split('\n## Reasons')[0]!
          .matchAll(/^\| `(\w+)`/gm),
      ].map(([, name]) => name),
    ).toEqual(signals);
  });

  it('docs/events.md lists exactly the events of the library', () => {
    const rows = [...read('docs/events.md').matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name);
    expect([...new Set(rows)]).toEqual(AUTH_EVENT_NAMES);
  });
});

describe('docs/options.md', () => {
  it('docs/options.md is up to date with the output of `npm run docs:options`', () => {
    expect(read('docs/options.md')).toBe(optionsPage());
  });

  it('docs/options.md contains every option exactly once', () => {
    const listed = [...read('docs/options.md').matchAll(/^### `(.+)`$/gm)].map(([, path]) => path!);
    const paths = [...OPTION_ROWS.keys(), ...EXTRA_ROWS.keys(), ...MAPPING_RULES.keys()];
    expect(listed.sort()).toEqual(paths.sort());
  });
});

describe('the docstrings of the options', () => {
  const declared = declaredOptions();

  it.each([...OPTION_ROWS, ...EXTRA_ROWS].map(([path, row]) => ({ path, row })))(
    'the docstring of the option $path contains its default and its bounds',
    ({ path, row }) => {
      const docstring = declared.get(path)?.docstring;
      expect(docstring).toContain(` Default: ${defaultOf(path, row)}`);
      expect(docstring).toContain(rangeOf(row.rule));
    },
  );

  it.each([...MAPPING_RULES.keys()])('the mapping property %s has a docstring', (path) => {
    expect(declared.get(path)?.docstring).toMatch(/\w{4}/);
  });
});

describe('the links of the documents', () => {
  it.each(documents())('all links of %s lead to existing files and headings', (file) => {
    const readIfThere = (path: string): string | undefined => {
      if (!existsSync(join(ROOT, path))) return undefined;
      return path.endsWith('.md') ? read(path) : '';
    };
    expect(brokenLinks(file, readIfThere)).toEqual([]);
  });
});

it('the library exports only the names of its public API', () => {
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
    'CurrentPrincipal',
    'CurrentSession',
    'CurrentUser',
    'DEFAULT_OPTIONS',
    'DeviceDetector',
    'DjangoPbkdf2Hashes',
    'FormerHashes',
    'MigratingPasswordHasher',
    'OnAuthSignal',
    'OpenSockets',
    'OptionalAuth',
    'PasswordController',
    'PasswordHasher',
    'PrehashedBcryptPasswordHasher',
    'PruningService',
    'Public',
    'ReauthenticationController',
    'RequireRecentLogin',
    'SecondFactor',
    'SessionAdministration',
    'SessionsController',
    'TokenSource',
    'UserStore',
    'VerificationUnavailable',
    'clientInfoOf',
    'foldName',
    'isPublicRoute',
    'rememberHandshake',
    'socketAccessToken',
  ]);
});
