import type { Type } from '@nestjs/common';
import { inspect } from 'node:util';
import { type UserEntityMapping, UserStore } from '../domain/ports/accounts';
import type { AuthModuleExtras, ResolvedAuthOptions } from './auth-options';
import { cookieProblems } from './cookie-problems';
import { EXTRA_ROWS, MAPPING_RULES, OPTION_ROWS, OPTIONAL_IN_MAPPING, type OptionRow } from './option-table';
import { AuthOptionsError, unknownOption, wrongValue } from './problems';
import type { Rule } from './rules';

/** The values that the application wrote, by path. */
type Values = ReadonlyMap<string, unknown>;

const GROUPS = new Set([...OPTION_ROWS.keys()].filter((path) => path.includes('.')).map((path) => path.split('.')[0]!));

/**
 * Checks the options, adds the defaults and freezes the result.
 * @param given the options as the application wrote them
 * @param beside what was written where the extras belong: with `forRootAsync()`, beside the factory
 * @throws AuthOptionsError that reports every problem
 */
export function resolveOptions(given: unknown, beside: object = {}): ResolvedAuthOptions {
  const options: Record<string, unknown> = isPlainObject(given) ? { ...given } : {};
  const values = flatten(options);
  const extras = Object.entries(beside).filter(([name]) => !Object.hasOwn(options, name));
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

/** The extras. A wrong value is replaced by its default here; `resolveOptions` reports it. */
export function resolveExtras(beside: object): Required<AuthModuleExtras> {
  const extras = [...EXTRA_ROWS].map(([name, { rule, ...row }]) => {
    const value = (beside as Record<string, unknown>)[name];
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
  if (row) return row.rule.accepts(value) ? [] : [wrongValue(path, value, row.rule.write)];
  if (GROUPS.has(path)) {
    const names = [...OPTION_ROWS.keys()].filter((one) => one.startsWith(`${path}.`)).map((one) => one.split('.')[1]);
    return [wrongValue(path, value, `a plain object with ${names.join(', ')}`)];
  }
  if (EXTRA_ROWS.has(path)) return [`${path} is returned by the factory; write it beside the factory`];
  return [unknownOption(path, [...OPTION_ROWS.keys(), ...EXTRA_ROWS.keys()])];
}

/**
 * Refuses what is no plain object as the argument of `forRoot()`, of which Nest passes a copy of the own properties on.
 * @throws AuthOptionsError
 */
export function assertPlainOptions(given: unknown): void {
  if (isPlainObject(given)) return;
  throw new AuthOptionsError([
    `the argument of forRoot() is ${inspect(given, { depth: 0 })}; write a plain object with the options`,
  ]);
}

/** Only a factory can return anything else than a plain object. */
function wrongResult(given: unknown): string {
  return `the factory of forRootAsync() returned ${inspect(given, { depth: 0 })}; return a plain object with the options`;
}

function isForeignClass(users: unknown): users is Type {
  return typeof users === 'function' && !(users.prototype instanceof UserStore);
}

function wrongUserClass({ name }: Type): string {
  const mapping = `{ entity: ${name}, username: 'email', passwordHash: 'password' }`;
  return `users is the class ${name}, which does not extend UserStore; if it is an entity, write users: ${mapping}`;
}

/** A plain object with at least one property of a mapping is meant as a mapping. */
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
  // Left out by mistake, `active` would let disabled users in.
  const writeFor = (path: string, { write }: Rule<unknown>): string =>
    values.has(path) && values.get(path) === undefined && OPTIONAL_IN_MAPPING.includes(path)
      ? `${write}, or leave it out`
      : write;
  return [
    ...unknown.map((path) => unknownOption(path, [...MAPPING_RULES.keys()])),
    ...wrong.map(([path, rule]) => wrongValue(path, values.get(path), writeFor(path, rule))),
    ...(['users.active', 'users.disabledAt'].every((path) => values.get(path) !== undefined)
      ? ['users.active and users.disabledAt are both written; write one of them']
      : []),
  ];
}

function problemsOfExtra(name: string, value: unknown): string[] {
  const row = EXTRA_ROWS.get(name);
  if (row) return value === undefined || row.rule.accepts(value) ? [] : [wrongValue(name, value, row.rule.write)];
  if (isKnown(name)) return [`${name} is written beside the factory; return it from the factory`];
  return [unknownOption(name, [...EXTRA_ROWS.keys()])];
}

/** The problems of two options together. A value that is wrong by itself conflicts with nothing. */
function conflictsIn(values: Values): string[] {
  const problems = [...OPTION_ROWS].flatMap(([path, { limit }]) => {
    if (!limit || !values.has(path)) return [];
    const [value, most] = [valueOf(path, values), limitOf(limit, values)];
    return Number(value) > most ? [wrongValue(path, value, `at most ${most}, ${limit.text}`)] : [];
  });
  const grace = Number(valueOf('refreshReuseGraceSeconds', values));
  if (grace > 0 && valueOf('rotateRefreshTokens', values) === false) {
    const write = '0, or leave it out, with rotateRefreshTokens: false: a token that is not rotated is never reused';
    problems.push(wrongValue('refreshReuseGraceSeconds', grace, write));
  }
  const block = valueOf('failedLogins.accountBlock', values);
  const isBlockWritten = values.has('failedLogins.accountBlock') && typeof block === 'string';
  if (isBlockWritten && valueOf('failedLogins.throttleFrom', values) === false) {
    const write = 'false, or leave it out, with failedLogins.throttleFrom: false, which disables the block too';
    problems.push(wrongValue('failedLogins.accountBlock', block, write));
  }
  return [...problems, ...foldingConflicts(values)];
}

/** Names must be looked up in the form in which their failures are counted. */
function foldingConflicts(values: Values): string[] {
  const users = values.get('users');
  if (!isMapping(users)) return [];
  const { foldedUsername } = users as Partial<UserEntityMapping>;
  const matching = valueOf('nameMatching', values);
  if (matching === 'insensitive' && foldedUsername === undefined) {
    const write = "the name of the unique text column of folded names that nameMatching: 'insensitive' needs";
    return [wrongValue('users.foldedUsername', foldedUsername, write)];
  }
  if (matching === 'exact' && foldedUsername !== undefined) {
    return [wrongValue('users.foldedUsername', foldedUsername, "nameMatching: 'insensitive' too, or leave it out")];
  }
  return [];
}

/** The value written, or the default within its limit; NaN where that depends on a wrong value. */
function valueOf(path: string, values: Values): unknown {
  const { follows, limit, ...row } = OPTION_ROWS.get(path)!;
  const written = values.get(path);
  if (written !== undefined) return problemsOf(path, written).length === 0 ? written : NaN;
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

/** Only own properties are read: those of a class or a prototype would be ignored, and with them what they should protect. */
function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value) as object | null;
  // `Object.prototype` of this realm or another one, as in a test's, but no other object without a prototype.
  return prototype === null || (Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf'));
}

/** The default of every option, which it has when left out, unless it follows another option. */
export const DEFAULT_OPTIONS: ResolvedAuthOptions = resolveOptions({});
