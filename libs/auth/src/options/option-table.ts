import { availableParallelism } from 'node:os';
import { DeviceDetector } from '../adapters/device-detector';
import { FormerTokens } from '../adapters/former-tokens';
import { ImpersonationPolicy } from '../adapters/impersonation-policy';
import { LoginPolicy } from '../adapters/login-policy';
import { PasswordHasher } from '../adapters/password-hasher';
import { RealmResolver } from '../adapters/realm';
import { SecondFactor } from '../adapters/second-factor';
import { TokenSource } from '../adapters/token-source';
import { type UserEntityMapping, UserStore } from '../adapters/user-store';
import { isPlainObject } from '../base/fields';
import type { GroupName, PasswordCheck, Replaceable, ResolvedAuthExtras, ResolvedAuthOptions } from './auth-options';

type OptionName = keyof ResolvedAuthOptions;

interface Rule<T> {
  /** The valid values, as error messages name them after "use". */
  readonly expected: string;
  readonly accepts: (value: unknown) => value is T;
}

export interface OptionRow<T = unknown> {
  readonly default: T;
  readonly rule: Rule<Exclude<T, undefined>>;
  /** Another option whose value is the default of this option. */
  readonly follows?: OptionName;
  /** The maximum value, as a share of another option. A greater default is lowered to this maximum. */
  readonly limit?: { readonly by: OptionName; readonly share: number; readonly text: string };
}

type Rows<T> = { readonly [Name in keyof T]-?: OptionRow<T[Name]> };

/** A row for each option. The compiler rejects an option without a row, and a row without an option. */
type OptionTable<T, Group extends keyof T> = {
  readonly [Name in keyof T]-?: Name extends Group ? Rows<T[Name]> : OptionRow<T[Name]>;
};

function ruleOf<T>(expected: string, accepts: (value: unknown) => boolean): Rule<T> {
  return { expected, accepts: (value): value is T => accepts(value) };
}

const boolean = ruleOf<boolean>('true or false', (value) => typeof value === 'boolean');

function oneOf<T extends string>(...values: readonly T[]): Rule<T> {
  return ruleOf(`one of ${values.map((one) => `'${one}'`).join(', ')}`, (value) => values.includes(value as T));
}

function integer(min: number, max = Infinity): Rule<number> {
  const range = max === Infinity ? `of at least ${min}` : `from ${min} to ${max}`;
  const isWithin = (value: number): boolean => Number.isSafeInteger(value) && value >= min && value <= max;
  return ruleOf(`a whole number ${range}`, (value) => isWithin(value as number));
}

/** A duration of more than 100 years is a mistake. */
function seconds(min: number): Rule<number> {
  const least = `${min} ${min === 1 ? 'second' : 'seconds'}`;
  return ruleOf(`a whole number of seconds from ${least} to 100 years`, integer(min, 3_155_760_000).accepts);
}

function orFalse<T>(rule: Rule<T>): Rule<T | false> {
  return ruleOf(`${rule.expected}, or false`, (value) => value === false || rule.accepts(value));
}

function text(expected: string, pattern = /./s): Rule<string> {
  return ruleOf(expected, (value) => typeof value === 'string' && pattern.test(value));
}

function textList(expected: string): Rule<readonly string[]> {
  return ruleOf(expected, (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'));
}

function nameProperties(expected: string): Rule<string | readonly string[]> {
  const isList = (value: readonly unknown[]): boolean => value.length > 0 && new Set(value).size === value.length;
  const isName = (value: unknown): boolean => typeof value === 'string' && value !== '';
  return ruleOf(expected, (value) => (Array.isArray(value) ? isList(value) && value.every(isName) : isName(value)));
}

function extending<T extends object>(base: abstract new () => T): Rule<Replaceable<T>> {
  return ruleOf(
    `a class that extends ${base.name}, or an instance of one`,
    (value) => value instanceof base || (typeof value === 'function' && value.prototype instanceof base),
  );
}

/** A cookie name (RFC 6265) without a prefix, because browsers treat prefixes specially. */
const cookieName = text(
  "letters, digits and any of !#$%&'*+-.^_`|~, without a prefix such as __Host-",
  /^(?!__(?:host|secure|http)-)[\w!#$%&'*+\-.^`|~]+$/i,
);

/** Low costs make tests fast and hashes weak, so they are accepted only in tests. */
const bcryptCost = ruleOf<number>('a whole number from 10 to 15; 4 to 9 only if `NODE_ENV` is `test`', (value) =>
  integer(process.env['NODE_ENV'] === 'test' ? 4 : 10, 15).accepts(value),
);

/** Short lifetimes show refreshes during development. */
const accessTokenTtl = ruleOf<number>(
  'a whole number of seconds from 60 seconds to 100 years; from 5 seconds if `NODE_ENV` is not `production`',
  (value) => seconds(process.env['NODE_ENV'] === 'production' ? 60 : 5).accepts(value),
);

const users = ruleOf<NonNullable<ResolvedAuthOptions['users']>>(
  `{ entity: User, username: 'email', passwordHash: 'password' }, or ${extending(UserStore).expected}`,
  (value) => isMapping(value) || extending(UserStore).accepts(value),
);

const absoluteTimeout = { by: 'absoluteTimeoutSeconds', share: 1, text: 'absoluteTimeoutSeconds' } as const;
const idleTimeout = { by: 'idleTimeoutSeconds', share: 1 / 4, text: 'a quarter of idleTimeoutSeconds' } as const;

const OPTIONS: OptionTable<ResolvedAuthOptions, GroupName> = {
  sessionPolicy: { default: 'multi', rule: oneOf('multi', 'single', 'max_count') },
  maxSessions: { default: 5, rule: integer(1, 1000) },
  onSessionLimit: { default: 'revoke_oldest', rule: oneOf('revoke_oldest', 'reject') },
  rotateRefreshTokens: { default: true, rule: boolean },
  refreshReuseGraceSeconds: { default: undefined, rule: integer(0, 60) },
  trackIps: {
    default: true,
    rule: ruleOf("true, false or 'truncated'", (value) => typeof value === 'boolean' || value === 'truncated'),
  },
  trackUserAgents: { default: true, rule: boolean },
  trackDevices: { default: true, rule: boolean },
  accessTokenTtlSeconds: { default: 900, rule: accessTokenTtl, limit: absoluteTimeout },
  refreshTokenTtlSeconds: { default: 604_800, rule: seconds(1), limit: absoluteTimeout },
  absoluteTimeoutSeconds: { default: 2_592_000, rule: seconds(1) },
  idleTimeoutSeconds: { default: 604_800, rule: seconds(1), follows: 'refreshTokenTtlSeconds', limit: absoluteTimeout },
  activityIntervalSeconds: { default: 60, rule: seconds(0), limit: idleTimeout },
  rememberMe: {
    idleTimeoutSeconds: { default: false, rule: orFalse(seconds(1)) },
    absoluteTimeoutSeconds: { default: false, rule: orFalse(seconds(1)) },
  },
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
    concurrent: { default: availableParallelism(), rule: integer(1, 1024) },
    waiting: { default: 64, rule: integer(1, 1_000_000) },
  },
  recentLogin: { toEndSessionsSeconds: { default: false, rule: orFalse(seconds(1)) } },
  passwordPolicy: {
    minLength: { default: 15, rule: integer(8, 64) },
    allowPredictable: { default: false, rule: boolean },
    check: { default: undefined, rule: ruleOf<PasswordCheck>('a function', (value) => typeof value === 'function') },
  },
  passwordResetTtlSeconds: { default: 3600, rule: integer(60, 604_800) },
  revokeOnPasswordChange: { default: true, rule: boolean },
  revokeApiKeysOnPasswordChange: { default: false, rule: boolean },
  revokeOnPasswordReset: { default: true, rule: boolean },
  bcryptCost: { default: 12, rule: bcryptCost },
  history: {
    retentionDays: { default: 90, rule: integer(1, 36_500) },
    maxRowsPerUser: { default: 1000, rule: integer(1, 10_000_000) },
  },
  pruneIntervalSeconds: { default: 3600, rule: orFalse(integer(60, 604_800)) },
  socketCheckIntervalSeconds: { default: 30, rule: integer(1, 3600) },
  connections: { default: 5, rule: integer(2, 1000) },
  namedStatements: { default: true, rule: boolean },
  nameMatching: { default: 'exact', rule: oneOf('exact', 'insensitive') },
  users: { default: undefined, rule: users },
  passwordHasher: { default: undefined, rule: extending(PasswordHasher) },
  deviceDetector: { default: undefined, rule: extending(DeviceDetector) },
  secondFactor: { default: undefined, rule: extending(SecondFactor) },
  loginPolicy: { default: undefined, rule: extending(LoginPolicy) },
  impersonationPolicy: { default: undefined, rule: extending(ImpersonationPolicy) },
  tokenSource: { default: undefined, rule: extending(TokenSource) },
  formerTokens: { default: undefined, rule: extending(FormerTokens) },
  realm: { default: undefined, rule: extending(RealmResolver) },
};

const EXTRAS: OptionTable<ResolvedAuthExtras, 'endpoints'> = {
  path: { default: 'auth', rule: text("a string such as 'auth'", /^/) },
  controllers: { default: true, rule: boolean },
  endpoints: {
    login: { default: true, rule: boolean },
    refresh: { default: true, rule: boolean },
    logout: { default: true, rule: boolean },
    logoutAll: { default: true, rule: boolean },
    sessions: { default: true, rule: boolean },
    history: { default: true, rule: boolean },
    passwordChange: { default: true, rule: boolean },
    reauthenticate: { default: false, rule: boolean },
  },
  globalGuard: { default: false, rule: boolean },
  dataSource: { default: 'default', rule: text('the name of a DataSource') },
  isGlobal: { default: true, rule: boolean },
};

export const REQUIRED_IN_MAPPING = ['users.entity', 'users.username', 'users.passwordHash'];

const MAPPING: { readonly [Name in keyof UserEntityMapping]-?: Rule<NonNullable<UserEntityMapping[Name]>> } = {
  entity: ruleOf('an entity of the DataSource', (value) => typeof value === 'function' && 'prototype' in value),
  username: nameProperties("the name of a property, such as 'email', or a list such as ['email', 'handle']"),
  foldedUsername: nameProperties("the name of a property, such as 'foldedEmail', or a list with one for each username"),
  passwordHash: text("the name of a property, such as 'password'"),
  active: text("the name of a property, such as 'isActive'"),
  disabledAt: text("the name of a property, such as 'disabledAt'"),
  roles: text("the name of a property, such as 'roles'"),
  realm: text("the name of a property, such as 'tenant'"),
  select: textList("a list of property names, such as ['plan']"),
};

function rowsOf(table: object, prefix = ''): ReadonlyMap<string, OptionRow> {
  return new Map(
    Object.entries(table as Record<string, OptionRow | object>).flatMap(([name, entry]): [string, OptionRow][] =>
      'rule' in entry ? [[prefix + name, entry]] : [...rowsOf(entry, `${prefix}${name}.`)],
    ),
  );
}

/** The rows by path, such as `failedLogins.signalAt`. */
export const OPTION_ROWS = rowsOf(OPTIONS);
export const EXTRA_ROWS = rowsOf(EXTRAS);

/** The rules by path, such as `users.entity`. */
export const MAPPING_RULES: ReadonlyMap<string, Rule<unknown>> = new Map(
  Object.entries(MAPPING).map(([name, rule]) => [`users.${name}`, rule]),
);

export function isMapping(value: unknown): boolean {
  return isPlainObject(value) && Object.keys(value).some((name) => MAPPING_RULES.has(`users.${name}`));
}
