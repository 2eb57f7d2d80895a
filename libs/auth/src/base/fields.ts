import { invalidField } from './errors';

/** Returns the name or id of an administrator for the event log, without control characters. */
export function actorOf(actor: string): string {
  if (typeof actor !== 'string' || actor === '' || [...actor].length > 255) {
    throw invalidField('actor', 'Must be a name or id of 1 to 255 characters.');
  }
  return actor.replace(/\p{Cc}/gu, '').toWellFormed();
}

export const FIELD_MESSAGES = {
  required: 'This field is required.',
  null: 'This field may not be null.',
  blank: 'This field may not be blank.',
  string: 'Not a valid string.',
  boolean: 'Must be a valid boolean.',
  integer: 'A valid integer is required.',
  event: 'Not a valid event.',
  password: 'Invalid password.',
  invisible: 'This username contains invisible characters.',
  common: 'This password is too common.',
  containsName: 'This password contains the username.',
  tooShort: (min: number): string => `Ensure this field has at least ${min} characters.`,
  tooLong: (max: number): string => `Ensure this field has no more than ${max} characters.`,
  passwordTooLong: (max: number): string => `This password is too long. It may have at most ${max} bytes.`,
} as const;

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The maximum length of a password, in bytes of UTF-8. Longer passwords are refused before they are hashed. */
export const PASSWORD_INPUT_BYTES = 4096;

// The functions named `...Problem` return a message, or null if the value is valid.

export function textProblem(value: unknown): string | null {
  if (value === undefined) return FIELD_MESSAGES.required;
  if (value === null) return FIELD_MESSAGES.null;
  if (typeof value !== 'string') return FIELD_MESSAGES.string;
  return value === '' ? FIELD_MESSAGES.blank : null;
}

export function optionalBooleanProblem(value: unknown): string | null {
  if (value === null) return FIELD_MESSAGES.null;
  return value === undefined || typeof value === 'boolean' ? null : FIELD_MESSAGES.boolean;
}

export function usernameProblem(value: unknown, max: number): string | null {
  return storableProblem(value) ?? (isLonger(value as string, max) ? FIELD_MESSAGES.tooLong(max) : null);
}

export function passwordProblem(value: unknown): string | null {
  const max = PASSWORD_INPUT_BYTES;
  const problem = storableProblem(value);
  return problem ?? (Buffer.byteLength(value as string) > max ? FIELD_MESSAGES.passwordTooLong(max) : null);
}

/**
 * Refuses NUL (as PostgreSQL does), lone surrogates (which hash functions replace with the same character) and U+FFFD
 * (with which body parsers replace ill-formed UTF-8).
 */
function storableProblem(value: unknown): string | null {
  if (typeof value !== 'string' || value === '') return textProblem(value);
  return value.includes('\0') || value.includes('\ufffd') || !value.isWellFormed() ? FIELD_MESSAGES.string : null;
}

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

/** Also refuses invisible characters, with which names can look the same, and folded names that are too long. */
export function newUsernameProblem(value: unknown, max: number): string | null {
  const problem = usernameProblem(value, max) ?? usernameProblem(foldName(value as string), max);
  return problem ?? (INVISIBLE.test(value as string) ? FIELD_MESSAGES.invisible : null);
}

/** Counts code points instead of UTF-16 code units, because a column of 255 characters holds 255 emoji. */
function isLonger(text: string, max: number): boolean {
  return text.length > max * 2 || (text.length > max && [...text].length > max);
}

/** Returns whether a host, in lower case and without a port, is `localhost`, `*.localhost`, 127.0.0.0/8 or `[::1]`. */
export function isLocalhost(hostname: string): boolean {
  return /^(?:(?:[^.]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

export function isExtension(origin: unknown): boolean {
  return typeof origin === 'string' && /^chrome-extension:\/\/[a-p]{32}$/.test(origin);
}

/** How usernames are compared: byte by byte (`exact`), or folded by `foldName` (`insensitive`). */
export type NameMatching = 'exact' | 'insensitive';

export const USERNAME_LENGTH = 255;

/**
 * Returns the folded form of a name: NFKC in lower case. With `nameMatching: 'insensitive'`, names are compared in this
 * form, which must be unique.
 * @param matching `exact` returns the name unchanged. Default: `insensitive`
 */
export function foldName(name: string, matching: NameMatching = 'insensitive'): string {
  // Normalized twice, because some letters with marks have a composed form only in lower case.
  return matching === 'exact' ? name : name.normalize('NFKC').toLowerCase().normalize('NFKC');
}

/** Masks all but the first two characters of an unknown name, which may be a password in the wrong field. */
export function maskName(name: string): string {
  const [first = '', second = '', ...rest] = name;
  return first + second + '*'.repeat(Math.min(rest.length, 8));
}

/** Returns JSON in ASCII, which every database can store. */
export function asciiJson(value: object): string {
  const escape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replace(/[^\x20-\x7e]/g, escape);
}

/** Returns whether a value is an object without a class, of which all properties are its own. */
export function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value) as object | null;
  // The second condition accepts the `Object.prototype` of another realm, such as that of a test.
  return prototype === null || (Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf'));
}
