import type { Row } from '../database/transaction';

/**
 * The data that your application keeps on a session. Declare its properties by module augmentation. All
 * properties are optional when they are read, because a session may lack any of them.
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- applications add the properties
export interface SessionData {}

/** The proven methods and the application's data, in the form that sessions and login tickets store. */
export interface StoredProofs {
  /** A JSON object: the name of each method with the instant of its last proof, in milliseconds. */
  readonly methods: string;
  /** A JSON object, or null if there is no data. */
  readonly data: string | null;
}

/** The methods by which a user was identified, and the data to keep on the session. */
export interface GivenProofs {
  readonly methods?: readonly string[];
  readonly data?: Partial<SessionData>;
}

/** The stored value if no methods are known. */
const NO_METHODS = '{}';

/** The maximum number of methods that are stored for a session, for its failure streak, and for a login ticket. */
const MAX_METHODS = 8;

/** The maximum size of `data`, in bytes of its JSON text in UTF-8. */
const MAX_DATA_BYTES = 1024;

/** Matches the method names of RFC 8176, such as `pwd`, `otp` and `hwk`, and the application's own method names. */
const METHOD_NAME = /^[a-z][a-z0-9_-]{0,31}$/;

const METHOD_NAME_RULE =
  'RFC 8176 defines common names. A name begins with a lowercase letter and has at most 32 characters of a-z, 0-9, _ and -.';

type MethodTimes = Readonly<Record<string, number>>;

/** Returns the stored methods, each with the time of its last proof. */
export function provenMethods(stored: string): Record<string, Date> {
  return Object.fromEntries(Object.entries(parse(stored)).map(([name, provedAt]) => [name, new Date(provedAt)]));
}

/** Returns the number of stored methods. */
export function methodCount(stored: string): number {
  return Object.keys(parse(stored)).length;
}

/** Returns whether the method was last proven at exactly this instant. */
export function isProvedAt(stored: string, name: string, at: number): boolean {
  return parse(stored)[name] === at;
}

/** Returns the stored methods after the named methods have been proven. Keeps the 8 methods with the latest proofs. */
export function withProvenMethods(stored: string, names: readonly string[], now: number): string {
  const others = Object.entries(parse(stored)).filter(([name]) => !names.includes(name));
  const proved = [...others, ...[...new Set(names)].map((name): [string, number] => [name, now])];
  const latest = proved.sort(([, a], [, b]) => a - b).slice(-MAX_METHODS);
  return JSON.stringify(Object.fromEntries(latest));
}

/** Returns whether each of the named methods was proven within the last `withinMs` milliseconds. */
export function areMethodsRecent(
  proved: Readonly<Record<string, Date>> | undefined,
  names: readonly string[],
  withinMs: number,
  now: number,
): boolean {
  return names.every((name) => {
    const at = proved && Object.hasOwn(proved, name) ? proved[name]!.getTime() : -Infinity;
    return now - at < withinMs;
  });
}

/** Checks a list of method names. @throws Error unless the argument is a list of 1 to 8 method names */
export function assertMethods(names: readonly string[]): void {
  const isList = Array.isArray(names) && names.length > 0 && names.length <= MAX_METHODS;
  if (isList && names.every(isMethodName)) return;
  throw new Error(
    `methods is ${JSON.stringify(names)}. Pass 1 to ${MAX_METHODS} names, such as ['otp']. ${METHOD_NAME_RULE}`,
  );
}

/** Checks a method name. @throws Error unless the argument is a method name */
export function assertMethod(name: string): void {
  if (isMethodName(name)) return;
  throw new Error(`method is ${JSON.stringify(name)}. Pass a name, such as 'otp'. ${METHOD_NAME_RULE}`);
}

function isMethodName(name: unknown): boolean {
  return typeof name === 'string' && METHOD_NAME.test(name);
}

/**
 * Converts methods and data to the form in which they are stored.
 * @throws Error if the methods or the data are invalid
 */
export function storedProofs({ methods, data }: GivenProofs, now: number): StoredProofs {
  if (methods !== undefined) assertMethods(methods);
  return { methods: withProvenMethods(NO_METHODS, methods ?? [], now), data: storedData(data) };
}

/** Returns the application's data, or an empty object if nothing is stored. */
export function readData(stored: string | null): Partial<SessionData> {
  return stored === null ? {} : (JSON.parse(stored) as Partial<SessionData>);
}

/** Converts data to JSON. Refuses, for example, a `Date`, which JSON would convert to a string. */
function storedData(data: Partial<SessionData> | undefined): string | null {
  if (data === undefined) return null;
  if (data === null || Array.isArray(data) || typeof data !== 'object' || !isJson(data)) {
    throw new Error(
      'data cannot be stored as JSON. Pass a plain object of strings, numbers, booleans, null, arrays and objects.',
    );
  }
  const text = JSON.stringify(data);
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_DATA_BYTES) return text;
  throw new Error(
    `data has ${bytes} bytes as JSON, which is more than ${MAX_DATA_BYTES}. Store larger data in your own table.`,
  );
}

/** @param depth the levels that may be nested. Data with more levels exceeds the maximum size or is cyclic */
function isJson(value: unknown, depth = MAX_DATA_BYTES): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object') return typeof value === 'string' || typeof value === 'boolean';
  if (value === null) return true;
  if (depth === 0) return false;
  const areJson = (values: unknown[]): boolean => values.every((one) => isJson(one, depth - 1));
  if (Array.isArray(value)) return areJson(Array.from(value));
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && areJson(Object.values(value));
}

function parse(stored: string): MethodTimes {
  return JSON.parse(stored) as MethodTimes;
}

/** The columns that `proofsFromRow` reads. */
export const PROOF_COLUMNS = 'methods data';

export function proofsFromRow(row: Row): StoredProofs {
  return { methods: row['methods'] as string, data: (row['data'] ?? null) as string | null };
}
