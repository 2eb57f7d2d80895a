import { PasswordHasher } from '../domain/ports/platform';
import { UserStore } from '../domain/ports/accounts';
import { CheapPasswordHasher } from '../testing';
import { graceSecondsFor } from './grace-period';
import { EXTRA_ROWS, OPTION_ROWS } from './option-table';
import type { AuthOptionsError } from './problems';
import { DEFAULT_OPTIONS, resolveExtras, resolveOptions } from './resolve-options';

const problems = (given: unknown, beside: object = {}): readonly string[] => {
  try {
    resolveOptions(given, beside);
    return [];
  } catch (error) {
    return (error as AuthOptionsError).problems;
  }
};

class User {}

describe('the options', () => {
  afterEach(() => jest.restoreAllMocks());

  it('are the defaults where nothing is written, and frozen at every level', () => {
    const options = resolveOptions({ maxSessions: undefined, failedLogins: undefined, history: {} });
    expect(options).toEqual(DEFAULT_OPTIONS);
    expect([options, options.failedLogins, options.hashing, options.history].every(Object.isFrozen)).toBe(true);
  });

  it('have defaults that their own rules accept', () => {
    const wrong = [...OPTION_ROWS, ...EXTRA_ROWS].filter(
      ([, { default: value, rule }]) => value !== undefined && !rule.accepts(value),
    );
    expect(wrong).toEqual([]);
  });

  it.each([
    ['maxSessions', 1, 1000],
    ['accessTokenTtlSeconds', 60, 3600],
    ['refreshReuseGraceSeconds', 0, 60],
    ['bcryptCost', 10, 15],
  ])('%s is from %i to %i', (name, least, most) => {
    jest.replaceProperty(process.env, 'NODE_ENV', 'production');
    expect([problems({ [name]: least }), problems({ [name]: most })]).toEqual([[], []]);
    for (const value of [least - 1, most + 1, least + 0.5, String(least), NaN, null]) {
      expect(problems({ [name]: value })).toEqual([expect.stringContaining(`${name} is`)]);
    }
  });

  it('allow a cheap bcrypt in tests only', () => {
    expect([problems({ bcryptCost: 4 }), problems({ bcryptCost: 3 })]).toEqual([[], [expect.any(String)]]);
    jest.replaceProperty(process.env, 'NODE_ENV', 'production');
    expect(problems({ bcryptCost: 4 })).toHaveLength(1);
  });

  it('limit each other', () => {
    expect(problems({ refreshTokenTtlSeconds: 101, absoluteTimeoutSeconds: 100 })).toEqual([
      'refreshTokenTtlSeconds is 101; write at most 100, absoluteTimeoutSeconds',
    ]);
    expect(problems({ idleTimeoutSeconds: 101, absoluteTimeoutSeconds: 100 })).toHaveLength(1);
    expect(problems({ idleTimeoutSeconds: 103, activityIntervalSeconds: 26 })).toEqual([
      'activityIntervalSeconds is 26; write at most 25, a quarter of idleTimeoutSeconds',
    ]);
  });

  it('left out, stay within the limits that others set', () => {
    expect(resolveOptions({ absoluteTimeoutSeconds: 3600 })).toMatchObject({
      refreshTokenTtlSeconds: 3600,
      idleTimeoutSeconds: 3600,
    });
    expect(resolveOptions({ refreshTokenTtlSeconds: 100 })).toMatchObject({
      idleTimeoutSeconds: 100,
      activityIntervalSeconds: 25,
    });
  });

  it('report a conflict beside other problems, unless it depends on a wrong value', () => {
    expect(problems({ idleTimeoutSeconds: 101, absoluteTimeoutSeconds: 100, trackIps: 1 })).toHaveLength(2);
    expect(problems({ idleTimeoutSeconds: 2_592_001, absoluteTimeoutSeconds: -1 })).toHaveLength(1);
    expect(problems({ refreshTokenTtlSeconds: 'x', activityIntervalSeconds: 1_000_000 })).toHaveLength(1);
  });

  it('refuse a grace period without rotation only where it is written and above 0', () => {
    expect(problems({ rotateRefreshTokens: false })).toEqual([]);
    expect(problems({ rotateRefreshTokens: false, refreshReuseGraceSeconds: 0 })).toEqual([]);
    expect(problems({ rotateRefreshTokens: false, refreshReuseGraceSeconds: 1 })).toEqual([
      expect.stringContaining('refreshReuseGraceSeconds is 1; write 0, or leave it out'),
    ]);
  });

  it('have no cookies where nothing is written, and freeze a copy of the trusted origins', () => {
    expect(resolveOptions({}).cookies).toEqual({ mode: false, name: 'auth', trustedOrigins: [], secure: true });
    const trustedOrigins = ['https://app.example.com'];
    const { cookies } = resolveOptions({ cookies: { mode: 'only', trustedOrigins } });
    trustedOrigins.push('https://evil.example');
    expect(cookies).toEqual({ mode: 'only', name: 'auth', trustedOrigins: ['https://app.example.com'], secure: true });
    expect(Object.isFrozen(cookies.trustedOrigins)).toBe(true);
  });

  it.each([{}, { name: 'session' }, { mode: undefined }])('ask for the mode of cookies: %j', (cookies) => {
    expect(problems({ cookies })).toEqual([
      "cookies.mode is undefined; write 'optional' or 'only', or leave cookies out",
    ]);
  });

  it.each([
    [{ mode: true }, "cookies.mode is true; write one of 'optional', 'only', or false"],
    [{ mode: 'only', secure: 1 }, 'cookies.secure is 1; write true or false'],
    [{ mode: 'only', domain: 'x.y' }, expect.stringContaining('cookies.domain is not an option; write ')],
    [{ mode: 'only', trustedOrigins: 'https://a.b' }, expect.stringContaining('; write a list of origins such as [')],
  ])('report each problem of cookies: %j', (cookies, problem) => {
    expect(problems({ cookies })).toEqual([problem]);
  });

  it.each(['auth', 'my-app.session', '_a1', "!#$%&'*+-.^_`|~"])('take the cookie name %s', (name) => {
    expect(problems({ cookies: { mode: 'only', name } })).toEqual([]);
  });

  it.each(['', 'a b', 'a=b', 'a;b', 'a,b', 'a"b', 'é', 'a\n', '__Host-auth', '__secure-auth', '__HTTP-auth'])(
    'refuse the cookie name %j',
    (name) => {
      expect(problems({ cookies: { mode: 'only', name } })).toEqual([expect.stringContaining('cookies.name is ')]);
    },
  );

  it.each(['https://app.example.com', 'https://app.example.com:8443', 'https://[2001:db8::1]'])(
    'trust the origin %s',
    (origin) => {
      expect(problems({ cookies: { mode: 'only', trustedOrigins: [origin] } })).toEqual([]);
    },
  );

  it.each([
    ['https://app.example.com/', "'https://app.example.com'"],
    ['https://app.example.com:443', "'https://app.example.com'"],
    ['https://App.example.com', "'https://app.example.com'"],
    ['https://user@app.example.com', "'https://app.example.com'"],
    ['https://bücher.example', "'https://xn--bcher-kva.example'"],
    ['https://*.example.com', 'each origin in full: there are no wildcards'],
    ['*', 'each origin in full: there are no wildcards'],
    ['null', "an origin such as 'https://app.example.com'"],
    ['', "an origin such as 'https://app.example.com'"],
    ['app.example.com', "an origin such as 'https://app.example.com'"],
    ['file:///etc', "an origin such as 'https://app.example.com'"],
    ['http://app.example.com', 'an https:// origin; http:// is for localhost alone, with cookies.secure: false'],
    ['http://localhost:3000', 'an https:// origin; http:// is for localhost alone, with cookies.secure: false'],
  ])('refuse the trusted origin %j, which no browser sends so or which is not safe', (origin, write) => {
    const trustedOrigins = ['https://a.example', origin];
    expect(problems({ cookies: { mode: 'only', trustedOrigins } })).toEqual([
      `cookies.trustedOrigins[1] is '${origin}'; write ${write}`,
    ]);
  });

  it.each([
    ['http://localhost:3000', true],
    ['http://app.localhost', true],
    ['http://a.b.localhost:8080', true],
    ['http://127.1.2.3:80', false],
    ['http://127.1.2.3:3000', true],
    ['http://[::1]:3000', true],
    ['https://app.example.com', true],
    ['http://localhost.example.com', false],
    ['http://notlocalhost', false],
    ['http://127.0.0.1.example.com', false],
    ['http://128.0.0.1', false],
    ['http://app.example.com', false],
  ])('without `secure`, trust the origin %s: %s', (origin, isTrusted) => {
    const found = problems({ cookies: { mode: 'only', secure: false, trustedOrigins: [origin] } });
    expect(found).toHaveLength(isTrusted ? 0 : 1);
  });

  it.each([
    [{}, 0, 10],
    [{ refreshReuseGraceSeconds: 0 }, 0, 0],
    [{ refreshReuseGraceSeconds: 30 }, 30, 30],
    [{ rotateRefreshTokens: false }, 0, 0],
  ])('%j: the grace period is %i s for bearer tokens and %i s for cookies', (given, bearer, cookie) => {
    const options = resolveOptions(given);
    expect([graceSecondsFor(options, 'bearer'), graceSecondsFor(options, 'cookie')]).toEqual([bearer, cookie]);
  });

  it('report every problem, each with what to write', () => {
    const given = { maxsessions: 3, failedLogins: { signalAt: 0, what: 1 }, users: {}, history: 3, trackIps: 1 };
    expect(problems(given)).toEqual([
      'maxsessions is not an option; write maxSessions',
      'failedLogins.signalAt is 0; write a whole number of at least 1',
      'failedLogins.what is not an option; ' +
        'write one of failedLogins.signalAt, failedLogins.throttleFrom, failedLogins.windowSeconds, ' +
        'failedLogins.accountBlock',
      expect.stringContaining('users is {}; write { entity: User'),
      'history is 3; write a plain object with retentionDays, maxRowsPerUser',
      'trackIps is 1; write true or false',
    ]);
  });

  it.each([
    [{ maxSesions: 1 }, 'maxSesions is not an option; write maxSessions'],
    [{ signalAt: 1 }, 'signalAt is not an option; write failedLogins.signalAt'],
    [{ history: { retentiondays: 1 } }, 'history.retentiondays is not an option; write history.retentionDays'],
    [
      { users: { entity: User, username: 'a', passwordHash: 'b', isActive: 'c' } },
      'users.isActive is not an option; write users.active',
    ],
  ])('%j: an unknown option is reported with the one that was probably meant', (given, problem) => {
    expect(problems(given)).toEqual([problem]);
  });

  it.each(['active', 'disabledAt', 'foldedUsername'])(
    'refuse a mapping whose %s is undefined: the column that was meant would not be checked',
    (property) => {
      const users = { entity: User, username: 'email', passwordHash: 'hash', [property]: undefined };
      expect(problems({ users })).toEqual([
        expect.stringMatching(`^users.${property} is undefined; write the name of a property, .*, or leave it out$`),
      ]);
    },
  );

  it.each(['unfamiliar', 'strict'])(
    'refuse the account block %j without the delays, which the block needs',
    (accountBlock) => {
      expect(problems({ failedLogins: { throttleFrom: false, accountBlock } })).toEqual([
        `failedLogins.accountBlock is '${accountBlock}'; ` +
          'write false, or leave it out, with failedLogins.throttleFrom: false, which disables the block too',
      ]);
    },
  );

  it('accept that the account block is false, or left out, without the delays', () => {
    expect(problems({ failedLogins: { throttleFrom: false, accountBlock: false } })).toEqual([]);
    expect(problems({ failedLogins: { throttleFrom: false } })).toEqual([]);
    expect(problems({ failedLogins: { throttleFrom: 3, accountBlock: 'strict' } })).toEqual([]);
  });

  it.each([
    ['a map', new Map([['signalAt', 1]])],
    ['a date', new Date(0)],
    [
      'an instance of a class',
      new (class Limits {
        get signalAt(): number {
          return 1;
        }
      })(),
    ],
    ['an object that inherits its properties', Object.create({ signalAt: 1 }) as object],
    [
      'an object that inherits them from one without a prototype',
      Object.create(Object.assign(Object.create(null) as object, { signalAt: 1 })) as object,
    ],
    ['a list', []],
  ])('refuse %s where they are a plain object, whose own properties are read', (_, value) => {
    expect(problems({ failedLogins: value })).toEqual([
      expect.stringMatching(
        /^failedLogins is .*; write a plain object with signalAt, throttleFrom, windowSeconds, accountBlock$/s,
      ),
    ]);
    expect(problems({ users: value })).toEqual([expect.stringMatching(/^users is .*; write \{ entity: User/s)]);
    expect(problems(value)).toEqual([
      expect.stringMatching(/^the factory of forRootAsync\(\) returned .*; return a plain object with the options$/s),
    ]);
  });

  it('refuse an instance of a class as mapping of the users', () => {
    const mapping = new (class Mapping {
      readonly entity = User;
      readonly username = 'email';
      readonly passwordHash = 'hash';
      get active(): string {
        return 'isActive';
      }
    })();
    expect(problems({ users: mapping })).toEqual([expect.stringContaining('; write { entity: User')]);
  });

  it('are read from an object without a prototype too', () => {
    const options = Object.assign(Object.create(null) as object, { maxSessions: 3 });
    expect(resolveOptions(options).maxSessions).toBe(3);
  });

  it('check the mapping of the users property by property', () => {
    expect(problems({ users: { entity: User, username: 'email', passwordHash: 'hash' } })).toEqual([]);
    expect(problems({ users: { entity: 'User', username: 'email', active: true } })).toEqual([
      "users.entity is 'User'; write an entity of the DataSource",
      "users.passwordHash is undefined; write the name of a property, such as 'password'",
      "users.active is true; write the name of a property, such as 'isActive'",
    ]);
  });

  it("ask for the column of the folded names with nameMatching: 'insensitive', and refuse it otherwise", () => {
    const users = { entity: User, username: 'email', passwordHash: 'hash' };
    const folded = { ...users, foldedUsername: 'foldedEmail' };
    expect(problems({ users: folded, nameMatching: 'insensitive' })).toEqual([]);
    expect(problems({ users: UserStore, nameMatching: 'insensitive' })).toEqual([expect.stringContaining('users is')]);
    expect(problems({ users, nameMatching: 'insensitive' })).toEqual([
      'users.foldedUsername is undefined; ' +
        "write the name of the unique text column of folded names that nameMatching: 'insensitive' needs",
    ]);
    const withoutMatching =
      "users.foldedUsername is 'foldedEmail'; write nameMatching: 'insensitive' too, or leave it out";
    expect(problems({ users: folded })).toEqual([withoutMatching]);
    expect(problems({ users: folded, nameMatching: 'exact' })).toEqual([withoutMatching]);
    expect(problems({ users: folded, nameMatching: 'any' })).toEqual([expect.stringContaining('nameMatching is')]);
    expect(problems({ users: { ...users, foldedUsername: true }, nameMatching: 'insensitive' })).toEqual([
      "users.foldedUsername is true; write the name of a property, such as 'foldedEmail'",
    ]);
  });

  it('take a class or an instance of the expected kind, and no other', () => {
    expect(problems({ passwordHasher: CheapPasswordHasher })).toEqual([]);
    expect(problems({ passwordHasher: new CheapPasswordHasher() })).toEqual([]);
    expect(problems({ passwordHasher: PasswordHasher, users: User, tokenSource: UserStore })).toEqual([
      'passwordHasher is [class PasswordHasher]; write a class that extends PasswordHasher, or an instance of one',
      'users is the class User, which does not extend UserStore; ' +
        "if it is an entity, write users: { entity: User, username: 'email', passwordHash: 'password' }",
      expect.stringContaining('tokenSource is [class UserStore]; write a class that extends TokenSource'),
    ]);
  });
});

describe('the options that shape the module', () => {
  it('are reported together with the others', () => {
    const given = { maxSessions: 0, colour: 'red' };
    expect(problems(given, { ...given, path: 3, globalGuard: undefined, dataSource: '' })).toEqual([
      'maxSessions is 0; write a whole number from 1 to 1000',
      expect.stringContaining('colour is not an option; write one of sessionPolicy,'),
      "path is 3; write a string such as 'auth'",
      "dataSource is ''; write the name of a DataSource",
    ]);
  });

  it('belong beside a factory, and the others in what it returns', () => {
    expect(problems({ path: 'x' }, { maxSessions: 3, controler: false })).toEqual([
      'path is returned by the factory; write it beside the factory',
      'maxSessions is written beside the factory; return it from the factory',
      'controler is not an option; write controllers',
    ]);
  });

  it('have their defaults where they are left out or wrong', () => {
    expect(resolveExtras({ path: 3, controllers: false, isGlobal: undefined })).toEqual({
      path: 'auth',
      controllers: false,
      globalGuard: false,
      dataSource: 'default',
      isGlobal: true,
    });
  });

  it.each([undefined, null, [], 'x'])('a factory that returns %j is an error', (given) => {
    expect(problems(given)).toEqual([
      expect.stringMatching(/^the factory of forRootAsync\(\) returned .*; return a plain object with the options$/),
    ]);
  });
});
