import { loggable } from '../domain/loggable';
import { type StoredUser, UserStore } from '../domain/ports/accounts';

/** A store of the application returned what its type excludes. The message contains names and types, never a value. */
export class UserStoreResultError extends Error {
  override readonly name = 'UserStoreResultError';
}

const USER = '{ id: string, number or bigint, username: string, passwordHash: string or null, active: boolean }';
const MAX_PROPERTIES = 20;

/** The types that the library relies on. Users of JavaScript, of `any` and of casts have no compiler that checks them. */
const ACCEPTED: Readonly<Record<keyof StoredUser, readonly string[]>> = {
  id: ['string', 'number', 'bigint'],
  username: ['string'],
  passwordHash: ['string', 'null'],
  active: ['boolean'],
};

/**
 * Returns what a store returned for a user, or null for nobody.
 * @throws UserStoreResultError with what to return instead
 */
export function checkedUser(result: unknown, store: UserStore): StoredUser | null {
  if (result === null) return null;
  if (typeOf(result) !== 'object') {
    throw new UserStoreResultError(`${typeOf(result)}. Return ${USER}, or null for nobody.`);
  }
  const user = result as Readonly<Record<keyof StoredUser, unknown>>;
  const names = Object.keys(ACCEPTED) as (keyof StoredUser)[];
  const wrong = names.filter((name) => !ACCEPTED[name].includes(typeOf(user[name])));
  if (wrong.length > 0) {
    const problems = wrong.map((name) => `${name} is ${typeOf(user[name])}`).join(', ');
    throw new UserStoreResultError(`${describe(result as object)}: ${problems}. Return ${USER}, or null for nobody.`);
  }
  refuseUnparsedId(user.id, store);
  return result as StoredUser;
}

/**
 * Returns whether a store did as it was asked.
 * @throws UserStoreResultError for anything but a boolean
 */
export function checkedBoolean(result: unknown, meaning: string): boolean {
  if (typeof result === 'boolean') return result;
  throw new UserStoreResultError(`${typeOf(result)}. Return true, or false ${meaning}.`);
}

/** Sessions store ids as text, and `findById` would be asked for that text: every session would end at its first request. */
function refuseUnparsedId(id: unknown, store: UserStore): void {
  if (typeof id === 'string' || store.parseId !== UserStore.prototype.parseId) return;
  const parse = typeof id === 'bigint' ? 'BigInt(text)' : 'Number(text)';
  throw new UserStoreResultError(
    `a user whose id is ${typeOf(id)}, while its parseId() returns text. Add to the store: ` +
      `override parseId(text: string) { return ${parse}; }`,
  );
}

/** Property names and types. */
function describe(value: object): string {
  const properties = Object.entries(value).map(([name, held]) => `${loggable(name)}: ${typeOf(held)}`);
  const more = properties.length > MAX_PROPERTIES ? ', ...' : '';
  return properties.length === 0 ? '{}' : `{ ${properties.slice(0, MAX_PROPERTIES).join(', ')}${more} }`;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : typeof value;
}
