import { inspect } from 'node:util';
import { AuthModule } from '../../libs/auth/src/auth.module';
import { PasswordHasher } from '../../libs/auth/src/adapters/password-hasher';
import { UserStore } from '../../libs/auth/src/adapters/user-store';
import { graceSecondsFor } from '../../libs/auth/src/tokens/tokens';
import { EXTRA_ROWS, OPTION_ROWS } from '../../libs/auth/src/options/option-table';
import type { AuthOptionsError } from '../../libs/auth/src/options/resolve-options';
import { DEFAULT_OPTIONS, resolveOptions } from '../../libs/auth/src/options/resolve-options';
import { HeaderRealms } from '../support/realms';

const problems = (given: unknown, extras: object = {}): readonly string[] => {
  try {
    resolveOptions(given, extras);
    return [];
  } catch (error) {
    return (error as AuthOptionsError).problems;
  }
};

const countOf = (given: object): number => problems(given).length;

class User {}

const USERS = { entity: User, username: 'email', passwordHash: 'hash' };
const LOCAL_ONLY = 'an https:// origin (http:// is accepted only for localhost, with cookies.secure: false)';
const ORIGIN = "an origin such as 'https://app.example.com'";
const UNUSED_FOLDED = "users.foldedUsername is 'foldedEmail'; use it with nameMatching: 'insensitive' only, or omit it";
const FOLDED = { ...USERS, foldedUsername: 'foldedEmail' };

class Limits {
  get signalAt(): number {
    return 1;
  }
}

const WITHOUT_PROTOTYPE = Object.assign(Object.create(null) as object, { signalAt: 1 });

describe('the options', () => {
  afterEach(() => jest.restoreAllMocks());

  it('default to DEFAULT_OPTIONS and are frozen at every level', () => {
    const options = resolveOptions({ maxSessions: undefined, failedLogins: undefined, history: {} });
    expect(options).toEqual(DEFAULT_OPTIONS);
    for (const one of [options, DEFAULT_OPTIONS]) {
      const groups = Object.values(one).filter((value) => typeof value === 'object' && value !== null);
      expect(groups).toHaveLength(7);
      expect([one, ...groups, one.cookies.trustedOrigins].every(Object.isFrozen)).toBe(true);
    }
  });

  it('have defaults that satisfy their own rules', () => {
    const wrong = [...OPTION_ROWS, ...EXTRA_ROWS].filter(
      ([, { default: value, rule }]) => value !== undefined && !rule.accepts(value),
    );
    expect(wrong).toEqual([]);
  });

  it.each([
    ['maxSessions', 1, 1000],
    ['accessTokenTtlSeconds', 60, 2_592_000],
    ['refreshReuseGraceSeconds', 0, 60],
    ['bcryptCost', 10, 15],
  ])('accept %s from %i to %i', (name, least, most) => {
    jest.replaceProperty(process.env, 'NODE_ENV', 'production');
    expect([problems({ [name]: least }), problems({ [name]: most })]).toEqual([[], []]);
    for (const value of [least - 1, most + 1, least + 0.5, String(least), NaN, null]) {
      expect(problems({ [name]: value })).toEqual([expect.stringContaining(`${name} is`)]);
    }
  });

  it.each([
    ['bcryptCost', 4],
    ['accessTokenTtlSeconds', 5],
  ])('allow a lower %s, from %i, only outside production', (name, least) => {
    expect([countOf({ [name]: least }), countOf({ [name]: least - 1 })]).toEqual([0, 1]);
    jest.replaceProperty(process.env, 'NODE_ENV', 'production');
    expect(countOf({ [name]: least })).toBe(1);
  });

  it('have defaults within the limits that other options set', () => {
    expect(resolveOptions({ absoluteTimeoutSeconds: 3600 })).toMatchObject({
      refreshTokenTtlSeconds: 3600,
      idleTimeoutSeconds: 3600,
    });
    expect(resolveOptions({ refreshTokenTtlSeconds: 100 })).toMatchObject({
      idleTimeoutSeconds: 100,
      activityIntervalSeconds: 25,
    });
  });

  it.each<[object, ...(string | RegExp)[]]>([
    [{ rotateRefreshTokens: false, refreshReuseGraceSeconds: 1 }, /refreshReuseGraceSeconds is 1; use 0 or omit it/],
    [
      { refreshTokenTtlSeconds: 101, absoluteTimeoutSeconds: 100 },
      /is 101; use at most 100 \(absoluteTimeoutSeconds\)/,
    ],
    [{ idleTimeoutSeconds: 101, absoluteTimeoutSeconds: 100 }, /^idleTimeoutSeconds is 101; use at most 100/],
    [{ idleTimeoutSeconds: 103, activityIntervalSeconds: 26 }, /use at most 25 \(a quarter of idleTimeoutSeconds\)/],
    [{ cookies: { name: 'session' } }, "cookies.mode is undefined; use 'optional' or 'only', or omit cookies"],
    [{ cookies: { mode: true } }, /cookies\.mode is true; use one of 'optional', 'only', or false/],
    [{ cookies: { mode: 'only', secure: 1 } }, /cookies\.secure is 1; use true or false/],
    [{ cookies: { mode: 'only', domain: 'x.y' } }, /cookies\.domain is not an option; use /],
    [{ cookies: { mode: 'only', trustedOrigins: 'https://a.b' } }, /; use a list of origins such as \[/],
    [{ signalAt: 1 }, /signalAt is not an option; use failedLogins\.signalAt/],
    [{ history: { retentiondays: 1 } }, /history\.retentiondays is not an option; use history\.retentionDays/],
    // A conflict that involves an invalid value is not reported.
    [{ idleTimeoutSeconds: 101, absoluteTimeoutSeconds: 100, trackIps: 1 }, /^trackIps/, /^idleTimeoutSeconds/],
    [{ idleTimeoutSeconds: 2_592_001, absoluteTimeoutSeconds: -1 }, /^absoluteTimeoutSeconds/],
    [{ refreshTokenTtlSeconds: 'x', activityIntervalSeconds: 1_000_000 }, /^refreshTokenTtlSeconds/],
    [
      { users: { ...USERS, isActive: 'b', select: 'c', active: 'd', disabledAt: 'e' } },
      /users\.isActive is not an option; use one of users\.entity/,
      /users\.select is 'c'; use a list of property names/,
      'users.active and users.disabledAt are both set; set only one of them',
    ],
    [
      { users: { entity: 'User', username: 'email', active: true } },
      "users.entity is 'User'; use an entity of the DataSource",
      "users.active is true; use the name of a property, such as 'isActive'",
      "users.passwordHash is undefined; use the name of a property, such as 'password'",
    ],
    [{ realm: HeaderRealms }, 'realm is set, but AuthUser has no realms; set users too'],
    [{ users: { ...USERS, realm: 'tenant' } }, 'set both realm and users.realm, or neither'],
    [{ users: UserStore, nameMatching: 'insensitive' }, /users is/],
    [
      { users: USERS, nameMatching: 'insensitive' },
      /^users\.foldedUsername is undefined; use the name of a unique text column .*, which nameMatching: 'insensitive' requ/,
    ],
    [{ users: FOLDED }, UNUSED_FOLDED],
    [{ users: FOLDED, nameMatching: 'any' }, /nameMatching is/],
    [
      { users: { ...USERS, foldedUsername: true }, nameMatching: 'insensitive' },
      /^users\.foldedUsername is true; use the name of a property, such as 'foldedEmail', or a list with one for each username$/,
    ],
    [
      { users: { ...USERS, username: ['email', 'handle'], foldedUsername: 'folded' }, nameMatching: 'insensitive' },
      "users.foldedUsername is 'folded'; use one folded property for each property of users.username",
    ],
    ...[[], [''], ['email', 'email'], ['email', 7]].map(
      (username) => [{ users: { ...USERS, username } }, /^users\.username is \[/] as [object, RegExp],
    ),
    [
      { passwordHasher: PasswordHasher, users: User, tokenSource: UserStore },
      'passwordHasher is [class PasswordHasher]; use a class that extends PasswordHasher, or an instance of one',
      /^users is \[class User\]; use \{ entity: User, .* \}, or a class that extends UserStore, or an instance of one$/,
      /tokenSource is \[class UserStore\]; use a class that extends TokenSource/,
    ],
  ])('are refused with what to use instead: %j', (given, ...expected) => {
    const patterns = expected.map((one) => (typeof one === 'string' ? one : expect.stringMatching(one)));
    expect(problems(given)).toEqual(patterns);
  });

  it('contain a frozen copy of the trusted origins', () => {
    const trustedOrigins = ['https://app.example.com'];
    const { cookies } = resolveOptions({ cookies: { mode: 'only', trustedOrigins } });
    trustedOrigins.push('https://evil.example');
    expect(cookies).toEqual({ mode: 'only', name: 'auth', trustedOrigins: ['https://app.example.com'], secure: true });
    expect(Object.isFrozen(cookies.trustedOrigins)).toBe(true);
  });

  it('accept as a cookie name only a token of RFC 6265 without a reserved prefix', () => {
    const accepted = ['auth', 'my-app.session', '_a1', "!#$%&'*+-.^_`|~"];
    const reserved = ['__Host-auth', '__secure-auth', '__HTTP-auth'];
    const refused = ['', 'a b', 'a=b', 'a;b', 'a,b', 'a"b', 'é', 'a\n', ...reserved];
    const isRefused = (name: string): boolean =>
      problems({ cookies: { mode: 'only', name } })
        .join()
        .startsWith('cookies.name is ');
    expect([...accepted, ...refused].filter(isRefused)).toEqual(refused);
  });

  it.each([
    ['https://app.example.com/', "'https://app.example.com'"],
    ['https://app.example.com:443', "'https://app.example.com'"],
    ['https://App.example.com', "'https://app.example.com'"],
    ['https://user@app.example.com', "'https://app.example.com'"],
    ['https://bücher.example', "'https://xn--bcher-kva.example'"],
    ['https://*.example.com', 'each origin in full, because wildcards are not supported'],
    ['*', 'each origin in full, because wildcards are not supported'],
    ['null', ORIGIN],
    ['', ORIGIN],
    ['app.example.com', ORIGIN],
    ['file:///etc', ORIGIN],
    ['http://app.example.com', LOCAL_ONLY],
    ['http://localhost:3000', LOCAL_ONLY],
  ])('refuse the trusted origin %j', (origin, write) => {
    const trustedOrigins = ['https://app.example.com:8443', 'https://[2001:db8::1]', origin];
    expect(problems({ cookies: { mode: 'only', trustedOrigins } })).toEqual([
      `cookies.trustedOrigins[2] is '${origin}'; use ${write}`,
    ]);
  });

  it('accept trusted origins with http:// only for local hosts, if cookies.secure is false, and those of extensions', () => {
    const names = ['localhost:3000', 'app.localhost', 'a.b.localhost:8080', '127.1.2.3:3000', '[::1]:3000'];
    const others = ['localhost.example.com', 'notlocalhost', '127.0.0.1.example.com', '128.0.0.1', 'app.example.com'];
    const local = names.map((name) => `http://${name}`);
    const isAccepted = (origin: string): boolean =>
      countOf({ cookies: { mode: 'only', secure: false, trustedOrigins: [origin] } }) === 0;
    expect([...local, ...others.map((name) => `http://${name}`)].filter(isAccepted)).toEqual(local);
    expect(isAccepted('https://app.example.com')).toBe(true);
    expect(isAccepted('http://127.1.2.3:80')).toBe(false);
    const id = 'abcdefghijklmnopabcdefghijklmnop';
    const extensions = [`chrome-extension://${id}`, `chrome-extension://${id}/`, 'chrome-extension://abc'];
    expect(extensions.map(isAccepted)).toEqual([true, false, false]);
  });

  it.each([
    [{}, 0, 10],
    [{ refreshReuseGraceSeconds: 0 }, 0, 0],
    [{ refreshReuseGraceSeconds: 30 }, 30, 30],
    [{ rotateRefreshTokens: false }, 0, 0],
    [{ rotateRefreshTokens: false, refreshReuseGraceSeconds: 0 }, 0, 0],
  ])('%j results in a grace period of %i s for bearer tokens and %i s for cookies', (given, bearer, cookie) => {
    const options = resolveOptions(given);
    expect([graceSecondsFor(options, 'bearer'), graceSecondsFor(options, 'cookie')]).toEqual([bearer, cookie]);
  });

  it('report all problems at once, each with what to write instead', () => {
    const given = { maxsessions: 3, failedLogins: { signalAt: 0, what: 1 }, users: {}, history: 3, trackIps: 1 };
    expect(problems(given)).toEqual([
      'maxsessions is not an option; use maxSessions',
      'failedLogins.signalAt is 0; use a whole number of at least 1',
      expect.stringMatching(/^failedLogins.what is not an option; use one of failedLogins.signalAt, .*accountBlock$/),
      expect.stringContaining('users is {}; use { entity: User'),
      'history is 3; use a plain object with retentionDays, maxRowsPerUser',
      "trackIps is 1; use true, false or 'truncated'",
    ]);
  });

  it.each(['active', 'disabledAt', 'foldedUsername', 'select'])(
    'refuse a mapping whose %s is undefined, because the intended column would not be checked',
    (property) => {
      expect(problems({ users: { ...USERS, [property]: undefined } })).toEqual([
        expect.stringMatching(`^users.${property} is undefined; use .*, or omit it$`),
      ]);
    },
  );

  it.each(['unfamiliar', 'strict'])(
    'refuse the account block %j if delays are disabled, because the block requires delays',
    (accountBlock) => {
      expect(problems({ failedLogins: { throttleFrom: false, accountBlock } })).toEqual([
        `failedLogins.accountBlock is '${accountBlock}'; ` +
          'use false or omit it, because failedLogins.throttleFrom: false also disables the account block',
      ]);
    },
  );

  it.each([
    ['a map', new Map([['signalAt', 1]])],
    ['an instance of a class', new Limits()],
    ['an object that inherits its properties', Object.create({ signalAt: 1 }) as object],
    ['an object that inherits from one without a prototype', Object.create(WITHOUT_PROTOTYPE) as object],
    ['an array', []],
    ['null', null],
    ['a string', 'x'],
  ])('refuse %s in place of a plain object', (_, value) => {
    expect(problems({ failedLogins: value })).toEqual([
      expect.stringMatching(
        /^failedLogins is .*; use a plain object with signalAt, throttleFrom, windowSeconds, accountBlock$/s,
      ),
    ]);
    expect(problems({ users: value })).toEqual([expect.stringMatching(/^users is .*; use \{ entity: User/s)]);
    expect(problems(value)).toEqual([
      expect.stringMatching(/^the factory of forRootAsync\(\) returned .*; return a plain object with the options$/s),
    ]);
  });

  it('accept an object without a prototype', () => {
    expect(resolveOptions({ failedLogins: WITHOUT_PROTOTYPE }).failedLogins.signalAt).toBe(1);
  });

  it('are refused without the content of objects, or of strings in place of objects, which may be secret', () => {
    const secret = 'pepper-pepper-pepper-pepper-pepper-1234';
    class Holder {
      static readonly secret = secret;
      readonly key = secret;
      readonly [inspect.custom] = (): string => secret;
    }
    const misplaced = [{ key: secret }, [secret], new Map([[secret, secret]]), Holder, new Holder(), secret];
    const replaceable = ['passwordHasher', 'deviceDetector', 'secondFactor', 'tokenSource', 'users'];
    const paths = [...replaceable, 'failedLogins', 'trackIps'];
    const reports = misplaced.flatMap((value) => [
      ...paths.flatMap((path) => (path === 'trackIps' && value === secret ? [] : problems({ [path]: value }))),
      ...problems({ passwordPolicy: value }),
      ...(value === Holder ? [] : problems({ passwordPolicy: { check: value } })),
      ...problems(value),
      ...problems({ users: { entity: User, username: 'email', passwordHash: value === secret ? 3 : value } }),
    ]);
    expect(reports.length).toBeGreaterThan(50);
    expect(reports.filter((report) => report.includes('pepper'))).toEqual([]);
    for (const given of [secret, [secret], new Holder()]) {
      expect(() => AuthModule.forRoot(given as never)).toThrow(/^(?!.*pepper)[^]*the argument of forRoot\(\) is/);
    }
  });
});

describe('the module options beside the factory', () => {
  it('must be written beside the factory, and all other options must be returned by the factory', () => {
    expect(problems({ path: 'x', endpoints: { login: false } })).toEqual([
      'path is in the result of the factory; pass it to forRootAsync() next to the factory',
      'endpoints.login is in the result of the factory; pass it to forRootAsync() next to the factory',
    ]);
    expect(problems({}, { maxSessions: 3, endpoints: { login: 0, logIn: true }, globalguard: true })).toEqual([
      'maxSessions is next to the factory of forRootAsync(); return it from the factory',
      'endpoints.login is 0; use true or false',
      'endpoints.logIn is not an option; use endpoints.login',
      'globalguard is not an option; use globalGuard',
    ]);
  });
});
