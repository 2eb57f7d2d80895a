import { inspect } from 'node:util';
import { isExtension, isLocalhost, isPlainObject } from '../base/fields';
import type { ResolvedAuthExtras, ResolvedAuthOptions } from './auth-options';
import { EXTRA_ROWS, isMapping, MAPPING_RULES, OPTION_ROWS, type OptionRow, REQUIRED_IN_MAPPING } from './option-table';

/** Thrown if options of `AuthModule` are invalid. Each of the `problems` says what is wrong, and what to do instead. */
export class AuthOptionsError extends Error {
  override readonly name = 'AuthOptionsError';

  constructor(readonly problems: readonly string[]) {
    super(`AuthModule cannot start with these options:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
  }
}

/** The values that the application set, by path. */
type Values = ReadonlyMap<string, unknown>;

const OPTION_NAMES = [...OPTION_ROWS.keys()];
const EXTRA_NAMES = [...EXTRA_ROWS.keys()];
const GROUPS = groupsOf(OPTION_NAMES);
const EXTRA_GROUPS = groupsOf(EXTRA_NAMES);

function groupsOf(paths: readonly string[]): ReadonlySet<string> {
  return new Set(paths.filter((path) => path.includes('.')).map((path) => path.split('.')[0]!));
}

/** @param withExtras the argument of `forRoot()`, or the properties next to the factory of `forRootAsync()` */
export function resolveOptions(given: unknown, withExtras: object = {}): ResolvedAuthOptions {
  const options = isPlainObject(given) ? given : {};
  const values = flatten(options);
  const extras = Object.fromEntries(Object.entries(withExtras).filter(([name]) => !Object.hasOwn(options, name)));
  const problems = [
    ...(isPlainObject(given) ? [] : [`the factory of forRootAsync() returned ${notPlain(given, 'return')}`]),
    ...[...values].flatMap(([path, value]) => problemOf(path, value) ?? []),
    ...[...flatten(extras)].flatMap(([path, value]) => problemOfExtra(path, value) ?? []),
    ...conflictsIn(values),
    ...mappingProblems(values),
    ...('rememberMe' in options && isPlainObject(options.rememberMe) ? rememberProblems(values) : []),
    ...('cookies' in options && isPlainObject(options.cookies) ? cookieProblems(values) : []),
  ];
  if (problems.length > 0) throw new AuthOptionsError(problems);
  const found = OPTION_NAMES.map((path): [string, unknown] => [path, valueOf(path, values)]);
  return build(found) as unknown as ResolvedAuthOptions;
}

/** Returns the extras with their defaults, also in place of invalid values, which `resolveOptions` reports. */
export function resolveExtras(withExtras: object): ResolvedAuthExtras {
  const values = flatten(withExtras);
  const found = [...EXTRA_ROWS].map(([path, { rule, ...row }]): [string, unknown] => {
    const value = values.get(path);
    return [path, rule.accepts(value) ? value : row.default];
  });
  return build(found) as unknown as ResolvedAuthExtras;
}

/** Checks the argument of `forRoot()`, of which Nest copies only the own properties. */
export function assertPlainOptions(given: unknown): void {
  if (isPlainObject(given)) return;
  throw new AuthOptionsError([`the argument of forRoot() is ${notPlain(given, 'use')}`]);
}

function notPlain(given: unknown, verb: string): string {
  return `${describe(given, false)}; ${verb} a plain object with the options`;
}

/** Returns the values by path, without options that are undefined, which have their default. */
function flatten(options: object): Values {
  const values = Object.entries(options).flatMap(([name, value]: [string, unknown]): [string, unknown][] => {
    const isGroup = GROUPS.has(name) || EXTRA_GROUPS.has(name) || name === 'users';
    if (!isPlainObject(value) || !isGroup) return [[name, value]];
    const parts = Object.entries(value).map(([key, one]): [string, unknown] => [`${name}.${key}`, one]);
    return name === 'users' ? [[name, value], ...(isMapping(value) ? parts : [])] : parts;
  });
  const isKnown = (path: string): boolean => isOption(path) || EXTRA_ROWS.has(path) || EXTRA_GROUPS.has(path);
  return new Map(values.filter(([path, value]) => value !== undefined || !isKnown(path)));
}

function isOption(path: string): boolean {
  return OPTION_ROWS.has(path) || GROUPS.has(path);
}

function problemOf(path: string, value: unknown): string | null {
  const rule = OPTION_ROWS.get(path)?.rule ?? MAPPING_RULES.get(path);
  if (rule) {
    // In a mapping, undefined is a mistake: without `active`, disabled users could log in.
    const omit = value === undefined && !REQUIRED_IN_MAPPING.includes(path) ? ', or omit it' : '';
    return rule.accepts(value) ? null : wrongValue(path, value, rule.expected + omit);
  }
  if (GROUPS.has(path)) return wrongGroup(path, value, OPTION_NAMES);
  if (EXTRA_ROWS.has(path)) {
    return `${path} is in the result of the factory; pass it to forRootAsync() next to the factory`;
  }
  const known = path.startsWith('users.') ? MAPPING_RULES.keys() : [...OPTION_NAMES, ...EXTRA_ROWS.keys()];
  return unknownOption(path, [...known]);
}

function problemOfExtra(path: string, value: unknown): string | null {
  const rule = EXTRA_ROWS.get(path)?.rule;
  if (rule) return rule.accepts(value) ? null : wrongValue(path, value, rule.expected);
  if (EXTRA_GROUPS.has(path)) return wrongGroup(path, value, EXTRA_NAMES);
  if (isOption(path)) return `${path} is next to the factory of forRootAsync(); return it from the factory`;
  return unknownOption(path, EXTRA_NAMES);
}

function wrongGroup(path: string, value: unknown, known: readonly string[]): string {
  const names = known.filter((one) => one.startsWith(`${path}.`)).map((one) => one.split('.')[1]);
  return wrongValue(path, value, `a plain object with ${names.join(', ')}`);
}

function* conflictsIn(values: Values): Generator<string> {
  const of = (path: string): unknown => valueOf(path, values);
  for (const [path, { limit }] of OPTION_ROWS) {
    if (!limit || !values.has(path)) continue;
    const most = limitOf(limit, values);
    if (Number(of(path)) > most) yield wrongValue(path, of(path), `at most ${most} (${limit.text})`);
  }
  const grace = of('refreshReuseGraceSeconds');
  if (Number(grace) > 0 && of('rotateRefreshTokens') === false) {
    const expected = '0 or omit it, because rotateRefreshTokens: false allows no grace period';
    yield wrongValue('refreshReuseGraceSeconds', grace, expected);
  }
  const block = values.has('failedLogins.accountBlock') && of('failedLogins.accountBlock');
  if (typeof block === 'string' && of('failedLogins.throttleFrom') === false) {
    const expected = 'false or omit it, because failedLogins.throttleFrom: false also disables the account block';
    yield wrongValue('failedLogins.accountBlock', block, expected);
  }
}

function* mappingProblems(values: Values): Generator<string> {
  const hasRealms = values.has('realm');
  if (hasRealms && !values.has('users')) yield 'realm is set, but AuthUser has no realms; set users too';
  if (!isMapping(values.get('users'))) return;
  if (hasRealms !== values.has('users.realm')) yield 'set both realm and users.realm, or neither';
  for (const path of REQUIRED_IN_MAPPING) {
    if (!values.has(path)) yield wrongValue(path, undefined, MAPPING_RULES.get(path)!.expected);
  }
  if (values.has('users.active') && values.has('users.disabledAt')) {
    yield 'users.active and users.disabledAt are both set; set only one of them';
  }
  yield* foldedNameProblems(values);
}

/** A login must look up a name in the same form in which the library counts the failed logins of the name. */
function* foldedNameProblems(values: Values): Generator<string> {
  const path = 'users.foldedUsername';
  const folded = values.get(path);
  const matching = valueOf('nameMatching', values);
  if (matching === 'insensitive' && folded === undefined) {
    const expected = "the name of a unique text column of folded names, which nameMatching: 'insensitive' requires";
    yield wrongValue(path, undefined, expected);
  }
  const count = (names: unknown): number => [names].flat().length;
  if (folded !== undefined && count(folded) !== count(values.get('users.username'))) {
    yield wrongValue(path, folded, 'one folded property for each property of users.username');
  }
  if (matching === 'exact' && folded !== undefined) {
    yield wrongValue(path, folded, "it with nameMatching: 'insensitive' only, or omit it");
  }
}

function* rememberProblems(values: Values): Generator<string> {
  const [idlePath, absolutePath] = ['rememberMe.idleTimeoutSeconds', 'rememberMe.absoluteTimeoutSeconds'] as const;
  const [idle, absolute] = [values.get(idlePath), values.get(absolutePath)];
  for (const path of [idlePath, absolutePath]) {
    const isMissing = !values.has(path) || (values.get(path) === false && idle !== absolute);
    const expected = 'a whole number of seconds, because rememberMe needs both timeouts, or omit rememberMe';
    if (isMissing) yield wrongValue(path, values.get(path), expected);
  }
  if (typeof idle !== 'number' || typeof absolute !== 'number') return;
  if (idle > absolute) yield wrongValue(idlePath, idle, `at most ${absolute} (rememberMe.absoluteTimeoutSeconds)`);
  const least = 4 * Number(valueOf('activityIntervalSeconds', values));
  if (idle < least) yield wrongValue(idlePath, idle, `at least ${least} (four times activityIntervalSeconds)`);
}

function* cookieProblems(values: Values): Generator<string> {
  if (!values.has('cookies.mode')) yield wrongValue('cookies.mode', undefined, "'optional' or 'only', or omit cookies");
  const origins = values.get('cookies.trustedOrigins');
  for (const [index, origin] of (Array.isArray(origins) ? origins : []).entries()) {
    const expected = typeof origin === 'string' ? expectedOrigin(origin, values.get('cookies.secure') === false) : null;
    if (expected) yield wrongValue(`cookies.trustedOrigins[${index}]`, origin, expected);
  }
}

/** Returns what to use instead of an origin that no browser sends in the header `Origin`. Null: the origin is valid. */
function expectedOrigin(origin: string, isHttpAllowed: boolean): string | null {
  if (isExtension(origin)) return null;
  if (origin.includes('*')) return 'each origin in full, because wildcards are not supported';
  const url = URL.canParse(origin) ? new URL(origin) : null;
  if (!url || !['https:', 'http:'].includes(url.protocol)) return "an origin such as 'https://app.example.com'";
  if (url.protocol === 'http:' && !(isHttpAllowed && isLocalhost(url.hostname))) {
    return 'an https:// origin (http:// is accepted only for localhost, with cookies.secure: false)';
  }
  return url.origin === origin ? null : `'${url.origin}'`;
}

/** Returns the value of an option, or its default within the limit. Returns NaN if an invalid value decides it. */
function valueOf(path: string, values: Values): unknown {
  const { follows, limit, ...row } = OPTION_ROWS.get(path)!;
  const value = values.get(path);
  if (value !== undefined) return problemOf(path, value) === null ? value : NaN;
  const byDefault = follows ? valueOf(follows, values) : row.default;
  return limit ? Math.min(Number(byDefault), limitOf(limit, values)) : byDefault;
}

function limitOf({ by, share }: NonNullable<OptionRow['limit']>, values: Values): number {
  return Math.floor(Number(valueOf(by, values)) * share);
}

/** Builds the frozen options, of which those with a dot in their path belong to a group. */
function build(found: readonly (readonly [path: string, value: unknown])[]): Readonly<Record<string, unknown>> {
  const resolved: Record<string, unknown> = {};
  for (const [path, value] of found) {
    const [name, inGroup] = path.split('.') as [string, string?];
    const frozen: unknown = Array.isArray(value) ? Object.freeze([...(value as unknown[])]) : value;
    resolved[name] = inGroup ? { ...(resolved[name] as object), [inGroup]: frozen } : frozen;
  }
  for (const group of groupsOf(found.map(([path]) => path))) Object.freeze(resolved[group]);
  return Object.freeze(resolved);
}

function wrongValue(path: string, value: unknown, expected: string): string {
  return `${path} is ${describe(value, !/^(a class|a function|a plain object|\{)/.test(expected))}; use ${expected}`;
}

/** Describes a value without the content of objects, or of strings that are out of place, which may be secret. */
function describe(value: unknown, isStringShown: boolean): string {
  if (typeof value === 'string' && !isStringShown) return 'a string';
  return inspect(value, { depth: -1, customInspect: false, breakLength: Infinity, maxStringLength: 100 });
}

/** Names the option in which only the case or the group differs, or all options of the group. */
function unknownOption(path: string, known: readonly string[]): string {
  const leafOf = (one: string): string => one.slice(one.lastIndexOf('.') + 1).toLowerCase();
  const meant = known.find((one) => leafOf(one) === leafOf(path));
  const siblings = known.filter((one) => one.startsWith(path.slice(0, path.lastIndexOf('.') + 1)));
  return `${path} is not an option; use ${meant ?? `one of ${siblings.join(', ')}`}`;
}

/** Returns whether a login can ask to be remembered. */
export function remembersSessions({ rememberMe }: ResolvedAuthOptions): boolean {
  return rememberMe.idleTimeoutSeconds !== false;
}

/**
 * Returns the maximum lifetimes of a session, and the lifetime of its refresh tokens, in milliseconds. The refresh tokens
 * of a remembered session live as long as the session without activity, so that it can be refreshed until then.
 */
export function lifetimesOf(
  options: ResolvedAuthOptions,
  isRemembered: boolean,
): Readonly<Record<'idleMs' | 'absoluteMs' | 'refreshTokenMs', number>> {
  const { idleTimeoutSeconds: idle, absoluteTimeoutSeconds: absolute } = options.rememberMe;
  if (isRemembered && idle !== false && absolute !== false)
    return { idleMs: idle * 1000, absoluteMs: absolute * 1000, refreshTokenMs: idle * 1000 };
  return {
    idleMs: options.idleTimeoutSeconds * 1000,
    absoluteMs: options.absoluteTimeoutSeconds * 1000,
    refreshTokenMs: options.refreshTokenTtlSeconds * 1000,
  };
}

/** The options that apply if you set none, frozen. Options without a constant default are undefined. */
export const DEFAULT_OPTIONS: ResolvedAuthOptions = resolveOptions({});
