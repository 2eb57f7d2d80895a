import { availableParallelism } from 'node:os';
import { type UserEntityMapping, UserStore } from '../domain/ports/accounts';
import { SecondFactor } from '../domain/ports/login-tickets';
import { DeviceDetector, PasswordHasher, TokenSource } from '../domain/ports/platform';
import type { GroupName, PasswordCheck, ResolvedAuthOptions } from './auth-options';
import type { AuthModuleExtras } from './module-extras';
import {
  anyClass,
  bcryptCost,
  boolean,
  cookieName,
  extending,
  integer,
  oneOf,
  orFalse,
  seconds,
  text,
  textList,
  type Rule,
} from './rules';

type OptionName = keyof ResolvedAuthOptions;

/** The default of an option, and the rule for its value. docs/options.md shows the default and any range. */
export interface OptionRow<T = unknown> {
  readonly default: T;
  /** The default as docs/options.md shows it. If `defaultText` is omitted, the page shows the value. */
  readonly defaultText?: string;
  readonly rule: Rule<Exclude<T, undefined>>;
  /** Another option whose value is the default of this option. */
  readonly follows?: OptionName;
  /** The maximum value, as a share of another option. A greater default is lowered to this maximum. */
  readonly limit?: { readonly by: OptionName; readonly share: number; readonly text: string };
}

/** A row for each option. The compiler rejects an option without a row, and a row without an option. */
type OptionTable<T> = {
  readonly [Name in keyof T]-?: Name extends GroupName ? OptionTable<T[Name]> : OptionRow<T[Name]>;
};

const absoluteTimeout = { by: 'absoluteTimeoutSeconds', share: 1, text: 'absoluteTimeoutSeconds' } as const;
const quarterOfIdleTimeout = {
  by: 'idleTimeoutSeconds',
  share: 1 / 4,
  text: 'a quarter of idleTimeoutSeconds',
} as const;
const MAPPING_OR_STORE =
  "{ entity: User, username: 'email', passwordHash: 'password' }, or a class that extends UserStore, or an instance of one";

const OPTIONS: OptionTable<ResolvedAuthOptions> = {
  sessionPolicy: { default: 'multi', rule: oneOf('multi', 'single', 'max_count') },
  maxSessions: { default: 5, rule: integer(1, 1000) },
  onSessionLimit: { default: 'revoke_oldest', rule: oneOf('revoke_oldest', 'reject') },
  rotateRefreshTokens: { default: true, rule: boolean },
  refreshReuseGraceSeconds: {
    default: undefined,
    defaultText: '0, and 10 for cookies with rotation',
    rule: integer(0, 60),
  },
  trackIps: { default: true, rule: boolean },
  trackUserAgents: { default: true, rule: boolean },
  trackDevices: { default: true, rule: boolean },
  accessTokenTtlSeconds: { default: 900, rule: integer(60, 3600) },
  refreshTokenTtlSeconds: { default: 604_800, rule: seconds(1), limit: absoluteTimeout },
  absoluteTimeoutSeconds: { default: 2_592_000, rule: seconds(1) },
  idleTimeoutSeconds: { default: 604_800, rule: seconds(1), follows: 'refreshTokenTtlSeconds', limit: absoluteTimeout },
  activityIntervalSeconds: { default: 60, rule: seconds(0), limit: quarterOfIdleTimeout },
  cookies: {
    mode: { default: false, rule: orFalse(oneOf('optional', 'only')) },
    name: { default: 'auth', rule: cookieName },
    trustedOrigins: { default: [], rule: textList("a list of origins such as ['https://app.example.com']") },
    secure: { default: true, rule: boolean },
  },
  failedLogins: {
    signalAt: { default: 5, rule: integer(1) },
    throttleFrom: { default: 10, rule: orFalse(integer(1)) },
    windowSeconds: { default: 300, rule: seconds(1) },
    accountBlock: { default: 'unfamiliar', rule: orFalse(oneOf('unfamiliar', 'strict')) },
  },
  hashing: {
    concurrent: { default: availableParallelism(), defaultText: '`os.availableParallelism()`', rule: integer(1, 1024) },
    waiting: { default: 64, rule: integer(1, 1_000_000) },
  },
  recentLogin: {
    endpoint: { default: false, rule: boolean },
    toEndSessionsSeconds: { default: false, rule: orFalse(seconds(1)) },
  },
  passwordPolicy: {
    minLength: { default: 15, rule: integer(8, 64) },
    allowPredictable: { default: false, rule: boolean },
    check: {
      default: undefined,
      defaultText: 'none',
      rule: { expected: 'a function', accepts: (value): value is PasswordCheck => typeof value === 'function' },
    },
  },
  passwordResetTtlSeconds: { default: 3600, rule: integer(60, 604_800) },
  revokeOnPasswordChange: { default: true, rule: boolean },
  revokeOnPasswordReset: { default: true, rule: boolean },
  bcryptCost: { default: 12, rule: bcryptCost },
  history: {
    retentionDays: { default: 90, rule: integer(1, 36_500) },
    maxRowsPerUser: { default: 1000, rule: integer(1, 10_000_000) },
  },
  pruneIntervalSeconds: { default: 3600, rule: orFalse(integer(60, 604_800)) },
  socketCheckIntervalSeconds: { default: 30, rule: integer(1, 3600) },
  namedStatements: { default: true, rule: boolean },
  nameMatching: { default: 'exact', rule: oneOf('exact', 'insensitive') },
  users: { default: undefined, defaultText: '`AuthUser`', rule: extending(UserStore, MAPPING_OR_STORE) },
  passwordHasher: { default: undefined, defaultText: 'bcrypt', rule: extending(PasswordHasher) },
  deviceDetector: {
    default: undefined,
    defaultText: 'ua-parser-js, if it is installed',
    rule: extending(DeviceDetector),
  },
  secondFactor: { default: undefined, defaultText: 'none', rule: extending(SecondFactor) },
  tokenSource: { default: undefined, defaultText: 'none', rule: extending(TokenSource) },
};

const EXTRAS: OptionTable<AuthModuleExtras> = {
  path: { default: 'auth', rule: text("a string such as 'auth'", 0) },
  controllers: { default: true, rule: boolean },
  globalGuard: { default: false, rule: boolean },
  dataSource: { default: 'default', rule: text('the name of a DataSource') },
  isGlobal: { default: true, rule: boolean },
};

/** The paths of the optional properties of a `UserEntityMapping`. */
export const OPTIONAL_IN_MAPPING: readonly string[] = [
  'users.foldedUsername',
  'users.active',
  'users.disabledAt',
  'users.select',
];

/** The rules for the properties of a `UserEntityMapping`, which the option `users` accepts. */
const MAPPING: { readonly [Name in keyof UserEntityMapping]-?: Rule<NonNullable<UserEntityMapping[Name]>> } = {
  entity: anyClass('an entity of the DataSource'),
  username: text("the name of a property, such as 'email'"),
  foldedUsername: text("the name of a property, such as 'foldedEmail'"),
  passwordHash: text("the name of a property, such as 'password'"),
  active: text("the name of a property, such as 'isActive'"),
  disabledAt: text("the name of a property, such as 'disabledAt'"),
  select: textList("a list of property names, such as ['roles']"),
};

/** The rows by path, such as `failedLogins.signalAt`. */
export const OPTION_ROWS = rowsOf(OPTIONS);
export const EXTRA_ROWS = rowsOf(EXTRAS);
/** The rules by path, such as `users.entity`. */
export const MAPPING_RULES = new Map<string, Rule<unknown>>(
  Object.entries(MAPPING).map(([name, rule]) => [`users.${name}`, rule]),
);

function rowsOf(table: object, prefix = ''): ReadonlyMap<string, OptionRow> {
  return new Map(
    Object.entries(table as Record<string, OptionRow | object>).flatMap(([name, entry]): [string, OptionRow][] =>
      'rule' in entry ? [[prefix + name, entry]] : [...rowsOf(entry, `${prefix}${name}.`)],
    ),
  );
}
