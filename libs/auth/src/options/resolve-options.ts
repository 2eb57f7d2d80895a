import { DeviceDetector } from '../domain/ports/device-detector';
import { PasswordHasher } from '../domain/ports/password-hasher';
import { TokenSource } from '../domain/ports/token-source';
import { UserStore } from '../domain/ports/user-store';
import type { AuthModuleOptions, ResolvedAuthOptions } from './auth-options';
import { DEFAULT_EXTRAS, DEFAULT_OPTIONS } from './defaults';

/** The options of `AuthModule` are wrong: every problem, its value, and what to write instead. */
export class AuthOptionsError extends Error {
  override readonly name = 'AuthOptionsError';

  constructor(readonly problems: readonly string[]) {
    super(`AuthModule cannot start with these options:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
  }
}

/** What is wrong with a value, or null; `write` is what to write instead. */
type Rule = (value: unknown, env: NodeJS.ProcessEnv) => string | null;

const oneOf =
  (...values: string[]): Rule =>
  (value) =>
    values.includes(value as string) ? null : `one of ${values.map((one) => `'${one}'`).join(', ')}`;
const boolean: Rule = (value) => (typeof value === 'boolean' ? null : 'true or false');
const integer =
  (min: number, max: number = Number.MAX_SAFE_INTEGER): Rule =>
  (value) => {
    if (Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max) return null;
    return max === Number.MAX_SAFE_INTEGER
      ? `a whole number of at least ${min}`
      : `a whole number from ${min} to ${max}`;
  };
/** A class to be made, or an object that is there already. */
const replaceable =
  (port: abstract new () => object, what: string): Rule =>
  (value) =>
    value === undefined || typeof value === 'function' || value instanceof port ? null : what;
const users: Rule = (value, env) => {
  const { entity, username, passwordHash, active } = (value ?? {}) as Record<string, unknown>;
  const isMapping = typeof entity === 'function' && typeof username === 'string' && typeof passwordHash === 'string';
  if (isMapping && (active === undefined || typeof active === 'string')) return null;
  const write = "{ entity: User, username: 'email', passwordHash: 'password', active: 'isActive' }";
  return replaceable(UserStore, `${write}, or a class that extends UserStore`)(value, env);
};
/** A hundred years: anything longer is a slip. */
const SECONDS_MOST = 3_155_760_000;

const RULES: Record<string, Rule> = {
  sessionPolicy: oneOf('multi', 'single', 'max_count'),
  maxSessions: integer(1, 1000),
  onSessionLimit: oneOf('revoke_oldest', 'reject'),
  rotateRefreshTokens: boolean,
  refreshReuseGraceSeconds: integer(0, 60),
  namedStatements: boolean,
  trackIps: boolean,
  trackUserAgents: boolean,
  trackDevices: boolean,
  accessTokenTtlSeconds: integer(60, 3600),
  refreshTokenTtlSeconds: integer(1, SECONDS_MOST),
  absoluteTimeoutSeconds: integer(1, SECONDS_MOST),
  idleTimeoutSeconds: integer(1, SECONDS_MOST),
  activityIntervalSeconds: integer(0, SECONDS_MOST),
  'failedLogins.signalAt': integer(1),
  'failedLogins.throttleFrom': (value, env) => (value === false ? null : withFalse(integer(1)(value, env))),
  'failedLogins.windowSeconds': integer(1, SECONDS_MOST),
  'hashing.concurrent': integer(1, 1024),
  'hashing.waiting': integer(0, 1_000_000),
  'recentLogin.endpoint': boolean,
  'recentLogin.toEndSessionsSeconds': (value, env) =>
    value === false ? null : withFalse(integer(1, SECONDS_MOST)(value, env)),
  'passwordPolicy.minLength': integer(8, 64),
  'passwordPolicy.check': (value) =>
    value === undefined || typeof value === 'function' ? null : 'a function of the password',
  passwordResetTtlSeconds: integer(60, 604_800),
  revokeOnPasswordChange: boolean,
  revokeOnPasswordReset: boolean,
  bcryptCost: (value, env) => integer(env['NODE_ENV'] === 'test' ? 4 : 10, 15)(value, env),
  'history.retentionDays': integer(1, 36_500),
  'history.maxRowsPerUser': integer(1, 10_000_000),
  pruneIntervalSeconds: (value, env) => (value === false ? null : withFalse(integer(60, 604_800)(value, env))),
  socketCheckIntervalSeconds: integer(1, 3600),
  nameMatching: oneOf('exact', 'insensitive'),
  users,
  passwordHasher: replaceable(PasswordHasher, 'a class that extends PasswordHasher'),
  deviceDetector: replaceable(DeviceDetector, 'a class that extends DeviceDetector'),
  tokenSource: replaceable(TokenSource, 'a class that extends TokenSource'),
};

const GROUPS = ['failedLogins', 'hashing', 'recentLogin', 'passwordPolicy', 'history'] as const;

/**
 * Merges what the host wrote over the defaults, checks all of it, and freezes the result.
 * @throws AuthOptionsError that names every problem at once
 */
export function resolveOptions(
  given: AuthModuleOptions = {},
  env: NodeJS.ProcessEnv = process.env,
): ResolvedAuthOptions {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new AuthOptionsError([`the options are ${show(given)}; write an object`]);
  }
  const problems: string[] = [];
  const merged = merge(given as Record<string, unknown>, problems);
  for (const [path, rule] of Object.entries(RULES)) {
    const value = valueAt(merged, path);
    const write = rule(value, env);
    if (write) problems.push(`${path} is ${show(value)}; write ${write}`);
  }
  if (problems.length === 0) checkTogether(merged as unknown as ResolvedAuthOptions, problems);
  if (problems.length > 0) throw new AuthOptionsError(problems);
  for (const group of GROUPS) Object.freeze(merged[group]);
  return Object.freeze(merged) as unknown as ResolvedAuthOptions;
}

function merge(given: Record<string, unknown>, problems: string[]): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...DEFAULT_OPTIONS };
  for (const [name, value] of Object.entries(given)) {
    if (Object.hasOwn(DEFAULT_EXTRAS, name)) {
      problems.push(`${name} shapes the module; write it beside \`useFactory\`, not in what the factory gives`);
    } else if (!Object.hasOwn(DEFAULT_OPTIONS, name)) {
      problems.push(`${name} is no option${suggestion(name)}`);
    } else if (value !== undefined) {
      merged[name] = isGroup(name) ? mergeGroup(name, value, problems) : value;
    }
  }
  if (given['idleTimeoutSeconds'] === undefined) {
    merged['idleTimeoutSeconds'] = smaller(merged['refreshTokenTtlSeconds'], merged['absoluteTimeoutSeconds']);
  }
  // Both follow what they are bounded by, unless the host wrote them.
  if (given['activityIntervalSeconds'] === undefined) {
    merged['activityIntervalSeconds'] = smaller(60, Math.floor(Number(merged['idleTimeoutSeconds']) / 4));
  }
  if (given['refreshTokenTtlSeconds'] === undefined) {
    merged['refreshTokenTtlSeconds'] = smaller(merged['refreshTokenTtlSeconds'], merged['absoluteTimeoutSeconds']);
  }
  return merged;
}

function mergeGroup(name: (typeof GROUPS)[number], value: unknown, problems: string[]): unknown {
  const defaults = DEFAULT_OPTIONS[name] as Record<string, unknown>;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    problems.push(`${name} is ${show(value)}; write an object with ${Object.keys(defaults).join(', ')}`);
    return { ...defaults };
  }
  const merged: Record<string, unknown> = { ...defaults };
  for (const [key, one] of Object.entries(value)) {
    if (!Object.hasOwn(defaults, key)) problems.push(`${name}.${key} is no option`);
    else if (one !== undefined) merged[key] = one;
  }
  return merged;
}

function checkTogether(options: ResolvedAuthOptions, problems: string[]): void {
  const { refreshTokenTtlSeconds, absoluteTimeoutSeconds, idleTimeoutSeconds, activityIntervalSeconds } = options;
  const atMost = (name: string, value: number, limit: number, of: string): void => {
    if (value > limit) problems.push(`${name} is ${value}; write at most ${limit}, ${of}`);
  };
  if (!options.rotateRefreshTokens && options.refreshReuseGraceSeconds > 0) {
    const given = `refreshReuseGraceSeconds is ${options.refreshReuseGraceSeconds} and rotateRefreshTokens is false`;
    problems.push(`${given}; write 0: a refresh token that is not rotated is never reused`);
  }
  const absolute = 'the absoluteTimeoutSeconds';
  atMost('refreshTokenTtlSeconds', refreshTokenTtlSeconds, absoluteTimeoutSeconds, absolute);
  atMost('idleTimeoutSeconds', idleTimeoutSeconds, absoluteTimeoutSeconds, absolute);
  atMost('activityIntervalSeconds', activityIntervalSeconds, idleTimeoutSeconds / 4, 'a quarter of idleTimeoutSeconds');
}

function suggestion(name: string): string {
  const close = Object.keys(DEFAULT_OPTIONS).find((known) => known.toLowerCase() === name.toLowerCase());
  return close ? `; write ${close}` : `; there are ${Object.keys(DEFAULT_OPTIONS).join(', ')}`;
}

function isGroup(name: string): name is (typeof GROUPS)[number] {
  return (GROUPS as readonly string[]).includes(name);
}

function valueAt(options: Record<string, unknown>, path: string): unknown {
  return path.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], options);
}

function withFalse(write: string | null): string | null {
  return write && `${write}, or false`;
}

/** The smaller one; a value of a wrong type passes, to be named by its own rule. */
function smaller(one: unknown, other: unknown): unknown {
  return typeof one === 'number' && typeof other === 'number' && Number.isFinite(other) ? Math.min(one, other) : one;
}

function show(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value === 'function') return `the function ${value.name}`;
  return typeof value === 'object' && value !== null ? (JSON.stringify(value) ?? 'an object') : String(value);
}
