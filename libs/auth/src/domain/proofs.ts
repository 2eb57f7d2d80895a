/**
 * What the application keeps on a session, besides the user: declare its properties by module
 * augmentation. A session may have none of them, so all are optional when they are read.
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- applications add the properties
export interface SessionData {}

/** The methods that a user has proved, and the application's data, as a session or a login ticket stores them. */
export interface StoredProofs {
  /** A JSON object: the name of each method with the instant of its last proof, in milliseconds. */
  readonly methods: string;
  /** A JSON object; null for none. */
  readonly data: string | null;
}

/** By which methods a user was identified, and what to keep on the session. */
export interface GivenProofs {
  readonly methods?: readonly string[];
  readonly data?: Partial<SessionData>;
}

/** The name of a password. (RFC 8176, section 2) */
export const PASSWORD_METHOD = 'pwd';

/** Where nothing is known of how the user was identified. */
export const NO_METHODS = '{}';

/** The most methods that are stored for one session. */
const MAX_METHODS = 8;
/** The longest text that stores them: the column has this length. */
export const METHODS_LENGTH = 512;
/** The largest `data`, in bytes of its JSON text in UTF-8. */
const MAX_DATA_BYTES = 1024;

/** Names of RFC 8176, such as `pwd`, `otp` and `hwk`, or the application's own. */
const METHOD_NAME = /^[a-z][a-z0-9_-]{0,31}$/;

type MethodTimes = Readonly<Record<string, number>>;

/** The methods with the instants of their last proofs, as an application reads them. */
export function provenMethods(stored: string): Record<string, Date> {
  return Object.fromEntries(Object.entries(parse(stored)).map(([name, provedAt]) => [name, new Date(provedAt)]));
}

/** How many methods are stored. */
export function methodCount(stored: string): number {
  return Object.keys(parse(stored)).length;
}

/** Whether the method was proved at this very instant. */
export function isProvedAt(stored: string, name: string, at: number): boolean {
  return parse(stored)[name] === at;
}

/** The stored methods after these were proved. Beyond 8, those proved longest ago are dropped. */
export function withProvenMethods(stored: string, names: readonly string[], now: number): string {
  const others = Object.entries(parse(stored)).filter(([name]) => !names.includes(name));
  const proved = [...others, ...[...new Set(names)].map((name): [string, number] => [name, now])];
  const latest = proved.sort(([, a], [, b]) => a - b).slice(-MAX_METHODS);
  return JSON.stringify(Object.fromEntries(latest));
}

/** Whether each of these methods was proved within this time. */
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

/** @throws Error for what is not a list of 1 to 8 names of methods */
export function assertMethods(names: readonly string[]): void {
  const isList = Array.isArray(names) && names.length > 0 && names.length <= MAX_METHODS;
  if (isList && names.every((name) => typeof name === 'string' && METHOD_NAME.test(name))) return;
  throw new Error(
    `methods is ${JSON.stringify(names)}; write 1 to ${MAX_METHODS} names of RFC 8176 such as ['otp']: each begins ` +
      'with a letter and has at most 32 characters of a-z, 0-9, _ and -.',
  );
}

/**
 * What a session or ticket stores of what the application gives.
 * @throws Error for methods or data that cannot be stored
 */
export function storedProofs({ methods, data }: GivenProofs, now: number): StoredProofs {
  if (methods !== undefined) assertMethods(methods);
  return { methods: withProvenMethods(NO_METHODS, methods ?? [], now), data: storedData(data) };
}

/** The application's data; empty where there is none. */
export function readData(stored: string | null): Partial<SessionData> {
  return stored === null ? {} : (JSON.parse(stored) as Partial<SessionData>);
}

/** What JSON would change is refused: a Date, for example, would come back as text. */
function storedData(data: Partial<SessionData> | undefined): string | null {
  if (data === undefined) return null;
  if (data === null || Array.isArray(data) || typeof data !== 'object' || !isJson(data)) {
    throw new Error(
      'data cannot be stored as JSON; pass a plain object of texts, numbers, booleans, lists and objects.',
    );
  }
  const text = JSON.stringify(data);
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_DATA_BYTES) return text;
  throw new Error(
    `data has ${bytes} bytes as JSON, and ${MAX_DATA_BYTES} are the most; store the rest in your own table.`,
  );
}

function isJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object') return typeof value === 'string' || typeof value === 'boolean';
  if (Array.isArray(value)) return Array.from(value).every(isJson);
  if (value === null) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && Object.values(value).every(isJson);
}

function parse(stored: string): MethodTimes {
  return JSON.parse(stored) as MethodTimes;
}
