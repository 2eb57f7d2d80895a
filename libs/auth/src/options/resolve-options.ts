import type { Type } from '@nestjs/common';
import { inspect } from 'node:util';
import { type UserEntityMapping, UserStore } from '../adapters/user-store';
import { isLocalhost } from '../base/fields';
import type { AuthModuleExtras, ResolvedAuthOptions } from './auth-options';
import { EXTRA_ROWS, MAPPING_RULES, OPTION_ROWS, OPTIONAL_IN_MAPPING, type OptionRow, type Rule } from './option-table';

const HTTPS_REQUIRED = 'an https:// origin (http:// is accepted only for localhost, with cookies.secure: false)';

/** The option `cookies` as the application wrote it. */
interface GivenCookies {
  readonly mode?: unknown;
  readonly trustedOrigins?: unknown;
  readonly secure?: unknown;
}

/** Returns the problems of the option `cookies` that the rules of the option table do not find. */
export function cookieProblems({ mode, trustedOrigins, secure }: GivenCookies): string[] {
  const missing = mode === undefined ? [wrongValue('cookies.mode', mode, "'optional' or 'only', or omit cookies")] : [];
  const origins: unknown[] = Array.isArray(trustedOrigins) ? trustedOrigins : [];
  return [
    ...missing,
    ...origins.flatMap((origin, index) => {
      const expected = typeof origin === 'string' ? expectedOrigin(origin, secure === false) : null;
      return expected === null ? [] : [wrongValue(`cookies.trustedOrigins[${index}]`, origin, expected)];
    }),
  ];
}

/**
 * Returns the expected value for the error message, or null if the origin is valid. A trusted origin must equal the
 * `Origin` header, in which browsers send the serialized form of an origin.
 */
function expectedOrigin(origin: string, isHttpAllowed: boolean): string | null {
  if (origin.includes('*')) return 'each origin in full, because wildcards are not supported';
  const url = URL.canParse(origin) ? new URL(origin) : null;
  if (!url || !['https:', 'http:'].includes(url.protocol)) return "an origin such as 'https://app.example.com'";
  if (url.protocol === 'http:' && !(isHttpAllowed && isLocalhost(url.hostname))) return HTTPS_REQUIRED;
  return url.origin === origin ? null : `'${url.origin}'`;
}

/**
 * Thrown if options of `AuthModule` are invalid. Each of the `problems` says what is wrong, and
 * what to do instead.
 */
export class AuthOptionsError extends Error {
  override readonly name = 'AuthOptionsError';

  constructor(readonly problems: readonly string[]) {
    super(`AuthModule cannot start with these options:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
  }
}

export function wrongValue(path: string, value: unknown, expected: string): string {
  return `${path} is ${inspect(value, { depth: 0, breakLength: Infinity, maxStringLength: 100 })}; use ${expected}`;
}

export function unknownOption(path: string, known: readonly string[]): string {
  const group = path.slice(0, path.lastIndexOf('.') + 1);
  const siblings = known.filter((one) => one.startsWith(group)).join(', ');
  return `${path} is not an option; use ${closest(path, known) ?? `one of ${siblings}`}`;
}

/** Returns the known path that a misspelled or misplaced path most likely means, or undefined if none is similar. */
function closest(path: string, known: readonly string[]): string | undefined {
  const distances = known.map((one) => ({
    one,
    distance: Math.min(editDistance(path, one), editDistance(leaf(path), leaf(one))),
  }));
  const [best] = distances.sort((a, b) => a.distance - b.distance);
  return best && best.distance <= leaf(path).length / 3 ? best.one : undefined;
}

function leaf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}

/** Returns the Levenshtein distance, ignoring case. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [i, a] of [...from.toLowerCase()].entries()) {
    const next = [i + 1];
    for (const [j, b] of [...to.toLowerCase()].entries()) {
      next.push(Math.min(next[j]! + 1, row[j + 1]! + 1, row[j]! + (a === b ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1)!;
}

/** The values that the application set, by path. */
type Values = ReadonlyMap<string, unknown>;

const GROUPS = new Set([...OPTION_ROWS.keys()].filter((path) => path.includes('.')).map((path) => path.split('.')[0]!));

/**
 * Checks the options, adds the defaults and freezes the result.
 * @param given the options as the application wrote them
 * @param withExtras the object that contains the extras: the argument of `forRoot()`, or the properties next to the
 *   factory of `forRootAsync()`
 * @throws AuthOptionsError that reports every problem
 */
export function resolveOptions(given: unknown, withExtras: object = {}): ResolvedAuthOptions {
  const options: Record<string, unknown> = isPlainObject(given) ? { ...given } : {};
  const values = flatten(options);
  const extras = Object.entries(withExtras).filter(([name]) => !Object.hasOwn(options, name));
  const problems = [
    ...(isPlainObject(given) ? [] : [wrongResult(given)]),
    ...[...values].flatMap(([path, value]) => problemsOf(path, value)),
    ...extras.flatMap(([name, value]) => problemsOfExtra(name, value)),
    ...conflictsIn(values),
    ...(isPlainObject(options['cookies']) ? cookieProblems(options['cookies']) : []),
  ];
  if (problems.length > 0) throw new AuthOptionsError(problems);
  return build(values);
}

/**
 * Returns the extras with their defaults. Replaces an invalid value with its default, because `resolveOptions`
 * reports invalid values.
 */
export function resolveExtras(withExtras: object): Required<AuthModuleExtras> {
  const extras = [...EXTRA_ROWS].map(([name, { rule, ...row }]) => {
    const value = (withExtras as Record<string, unknown>)[name];
    return [name, rule.accepts(value) ? value : row.default];
  });
  return Object.fromEntries(extras) as Required<AuthModuleExtras>;
}

function flatten(options: object): Values {
  const values = Object.entries(options).flatMap(([name, value]: [string, unknown]): [string, unknown][] => {
    if (!GROUPS.has(name) || !isPlainObject(value)) return [[name, value]];
    return Object.entries(value).map(([key, one]) => [`${name}.${key}`, one]);
  });
  return new Map(values.filter(([path, value]) => value !== undefined || !isKnown(path)));
}

function problemsOf(path: string, value: unknown): string[] {
  if (path === 'users' && isMapping(value)) return problemsOfMapping(value);
  if (path === 'users' && isForeignClass(value)) return [wrongUserClass(value)];
  const row = OPTION_ROWS.get(path);
  if (row) return row.rule.accepts(value) ? [] : [wrongValue(path, value, row.rule.expected)];
  if (GROUPS.has(path)) {
    const names = [...OPTION_ROWS.keys()].filter((one) => one.startsWith(`${path}.`)).map((one) => one.split('.')[1]);
    return [wrongValue(path, value, `a plain object with ${names.join(', ')}`)];
  }
  if (EXTRA_ROWS.has(path))
    return [`${path} is in the result of the factory; pass it to forRootAsync() next to the factory`];
  return [unknownOption(path, [...OPTION_ROWS.keys(), ...EXTRA_ROWS.keys()])];
}

/**
 * Checks the argument of `forRoot()`. Nest copies only the argument's own properties, so the copy of an instance
 * would lack the inherited options.
 * @throws AuthOptionsError if the argument is not a plain object
 */
export function assertPlainOptions(given: unknown): void {
  if (isPlainObject(given)) return;
  throw new AuthOptionsError([
    `the argument of forRoot() is ${inspect(given, { depth: 0 })}; use a plain object with the options`,
  ]);
}

/**
 * Describes options that are not a plain object. Such options come from a factory, because `forRoot()` checks its
 * argument.
 */
function wrongResult(given: unknown): string {
  return `the factory of forRootAsync() returned ${inspect(given, { depth: 0 })}; return a plain object with the options`;
}

function isForeignClass(users: unknown): users is Type {
  return typeof users === 'function' && !(users.prototype instanceof UserStore);
}

function wrongUserClass({ name }: Type): string {
  const mapping = `{ entity: ${name}, username: 'email', passwordHash: 'password' }`;
  return `users is the class ${name}, which does not extend UserStore; if it is an entity, use users: ${mapping}`;
}

/** Returns whether the value is meant as a mapping: a plain object with at least one property of a mapping. */
function isMapping(users: unknown): users is object {
  if (!isPlainObject(users)) return false;
  return Object.keys(users).some((name) => MAPPING_RULES.has(`users.${name}`));
}

function problemsOfMapping(mapping: object): string[] {
  const values = new Map(Object.entries(mapping).map(([name, value]: [string, unknown]) => [`users.${name}`, value]));
  const unknown = [...values.keys()].filter((path) => !MAPPING_RULES.has(path));
  const wrong = [...MAPPING_RULES].filter(([path, rule]) => {
    const value = values.get(path);
    return values.has(path) ? !rule.accepts(value) : !OPTIONAL_IN_MAPPING.includes(path);
  });
  // A property that is present but undefined is a mistake: without `active`, disabled users could log in.
  const expectedFor = (path: string, { expected }: Rule<unknown>): string =>
    values.has(path) && values.get(path) === undefined && OPTIONAL_IN_MAPPING.includes(path)
      ? `${expected}, or omit it`
      : expected;
  return [
    ...unknown.map((path) => unknownOption(path, [...MAPPING_RULES.keys()])),
    ...wrong.map(([path, rule]) => wrongValue(path, values.get(path), expectedFor(path, rule))),
    ...(['users.active', 'users.disabledAt'].every((path) => values.get(path) !== undefined)
      ? ['users.active and users.disabledAt are both set; set only one of them']
      : []),
  ];
}

function problemsOfExtra(name: string, value: unknown): string[] {
  const row = EXTRA_ROWS.get(name);
  if (row) return value === undefined || row.rule.accepts(value) ? [] : [wrongValue(name, value, row.rule.expected)];
  if (isKnown(name)) return [`${name} is next to the factory of forRootAsync(); return it from the factory`];
  return [unknownOption(name, [...EXTRA_ROWS.keys()])];
}

/** Returns the problems of combinations of options. */
function conflictsIn(values: Values): string[] {
  const problems = [...OPTION_ROWS].flatMap(([path, { limit }]) => {
    if (!limit || !values.has(path)) return [];
    const [value, most] = [valueOf(path, values), limitOf(limit, values)];
    return Number(value) > most ? [wrongValue(path, value, `at most ${most} (${limit.text})`)] : [];
  });
  const grace = Number(valueOf('refreshReuseGraceSeconds', values));
  if (grace > 0 && valueOf('rotateRefreshTokens', values) === false) {
    const expected = '0 or omit it, because rotateRefreshTokens: false allows no grace period';
    problems.push(wrongValue('refreshReuseGraceSeconds', grace, expected));
  }
  const block = valueOf('failedLogins.accountBlock', values);
  const isBlockSet = values.has('failedLogins.accountBlock') && typeof block === 'string';
  if (isBlockSet && valueOf('failedLogins.throttleFrom', values) === false) {
    const expected = 'false or omit it, because failedLogins.throttleFrom: false also disables the account block';
    problems.push(wrongValue('failedLogins.accountBlock', block, expected));
  }
  return [...problems, ...foldingConflicts(values)];
}

/**
 * Returns the conflicts between the mapping and `nameMatching`. A login must look up a name in the same form in
 * which the library counts the failed logins of the name.
 */
function foldingConflicts(values: Values): string[] {
  const users = values.get('users');
  if (!isMapping(users)) return [];
  const { foldedUsername } = users as Partial<UserEntityMapping>;
  const matching = valueOf('nameMatching', values);
  if (matching === 'insensitive' && foldedUsername === undefined) {
    const expected = "the name of a unique text column of folded names, which nameMatching: 'insensitive' requires";
    return [wrongValue('users.foldedUsername', foldedUsername, expected)];
  }
  if (matching === 'exact' && foldedUsername !== undefined) {
    return [wrongValue('users.foldedUsername', foldedUsername, "it with nameMatching: 'insensitive' only, or omit it")];
  }
  return [];
}

/**
 * Returns the value of an option, or its default within the limit. Returns NaN if the option, or an option that
 * its default depends on, is invalid.
 */
function valueOf(path: string, values: Values): unknown {
  const { follows, limit, ...row } = OPTION_ROWS.get(path)!;
  const value = values.get(path);
  if (value !== undefined) return problemsOf(path, value).length === 0 ? value : NaN;
  const byDefault = follows ? valueOf(follows, values) : row.default;
  return limit ? Math.min(Number(byDefault), limitOf(limit, values)) : byDefault;
}

function limitOf({ by, share }: NonNullable<OptionRow['limit']>, values: Values): number {
  return Math.floor(Number(valueOf(by, values)) * share);
}

function build(values: Values): ResolvedAuthOptions {
  const resolved: Record<string, unknown> = {};
  for (const path of OPTION_ROWS.keys()) {
    const [name, inGroup] = path.split('.') as [string, string?];
    const found = valueOf(path, values);
    const value: unknown = Array.isArray(found) ? Object.freeze([...(found as unknown[])]) : found;
    resolved[name] = inGroup ? { ...(resolved[name] as object), [inGroup]: value } : value;
  }
  for (const group of GROUPS) Object.freeze(resolved[group]);
  return Object.freeze(resolved) as unknown as ResolvedAuthOptions;
}

function isKnown(path: string): boolean {
  return OPTION_ROWS.has(path) || GROUPS.has(path);
}

/**
 * Returns whether a value is a plain object. Only own properties are read, so the inherited options of an instance
 * would be ignored.
 */
function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value) as object | null;
  // The second condition accepts the `Object.prototype` of another realm, such as that of a test.
  return prototype === null || (Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf'));
}

/**
 * The default of every option, frozen. A default that depends on another option is the default that applies when
 * both options are omitted. An option without a constant default, such as `users`, is undefined.
 * `hashing.concurrent` is the result of `os.availableParallelism()`.
 */
export const DEFAULT_OPTIONS: ResolvedAuthOptions = resolveOptions({});
