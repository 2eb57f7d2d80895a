import { foldName } from './username';

/** The words for what can be wrong with a field. */
export const FIELD_MESSAGES = {
  required: 'This field is required.',
  null: 'This field may not be null.',
  blank: 'This field may not be blank.',
  string: 'Not a valid string.',
  boolean: 'Must be a valid boolean.',
  integer: 'A valid integer is required.',
  event: 'Not a valid event.',
  password: 'Invalid password.',
  invisible: 'This name contains control characters or characters without width.',
  common: 'This password is too common.',
  containsName: 'This password contains the name of the user.',
  tooShort: (min: number): string => `Ensure this field has at least ${min} characters.`,
  tooLong: (max: number): string => `Ensure this field has no more than ${max} characters.`,
  passwordTooLong: (max: number): string => `This password is too long: ${max} bytes are the most.`,
} as const;

/** A UUID, in lower case as the library writes it or in upper case. */
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The longest password that is read at all, in bytes of UTF-8. A longer one costs no hash. */
export const PASSWORD_INPUT_BYTES = 4096;

/** What is wrong with the presence of a text field, or null. Nothing is ever trimmed. */
export function textProblem(value: unknown): string | null {
  if (value === undefined) return FIELD_MESSAGES.required;
  if (value === null) return FIELD_MESSAGES.null;
  if (typeof value !== 'string') return FIELD_MESSAGES.string;
  return value === '' ? FIELD_MESSAGES.blank : null;
}

/** What is wrong with a username of at most `max` characters, or null. */
export function usernameProblem(value: unknown, max: number): string | null {
  const problem = textProblem(value);
  if (problem) return problem;
  const text = value as string;
  if (isLonger(text, max)) return FIELD_MESSAGES.tooLong(max);
  return isStorable(text) ? null : FIELD_MESSAGES.string;
}

/**
 * Control characters (Cc), format characters (Cf: bidirectional controls, zero-width spaces and joiners, soft hyphens, tags),
 * line and paragraph separators, and whatever else is displayed as nothing: variation selectors, Hangul fillers.
 */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

/**
 * What is wrong with the name of a new user, or null: nobody must take it for the name of another. The folded name can be
 * longer, and must fit into a column too.
 */
export function newUsernameProblem(value: unknown, max: number): string | null {
  const problem = usernameProblem(value, max);
  if (problem) return problem;
  const name = value as string;
  if (isLonger(foldName(name), max)) return FIELD_MESSAGES.tooLong(max);
  return INVISIBLE.test(name) ? FIELD_MESSAGES.invisible : null;
}

/** What is wrong with a password as input, or null. */
export function passwordProblem(value: unknown): string | null {
  const problem = textProblem(value);
  if (problem) return problem;
  const text = value as string;
  if (Buffer.byteLength(text) > PASSWORD_INPUT_BYTES) return FIELD_MESSAGES.tooLong(PASSWORD_INPUT_BYTES);
  return isStorable(text) ? null : FIELD_MESSAGES.string;
}

/** Characters, not UTF-16 units: a column of 255 holds 255 emoji. */
function isLonger(text: string, max: number): boolean {
  return text.length > max * 2 || (text.length > max && [...text].length > max);
}

/**
 * PostgreSQL refuses NUL, and hashes take every lone surrogate for the same character. Decoders of UTF-8 do the same: what is
 * ill-formed in the body of a request has become U+FFFD before the library sees it, so that different bytes are one name,
 * or one password.
 */
function isStorable(text: string): boolean {
  return !text.includes('\0') && !text.includes('\ufffd') && text.isWellFormed();
}
