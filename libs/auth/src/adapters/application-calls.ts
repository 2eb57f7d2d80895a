import { Logger } from '@nestjs/common';
import { withTimeout } from '../base/clock';
import { AuthError } from '../base/errors';
import { loggable, toFailureReport } from '../base/failures';
import { isDistinctId, type StoredUser, UserStore } from './user-store';

/** The maximum duration of a call, in milliseconds. */
const TIMEOUT_MS = 5_000;

class TimeoutError extends Error {
  override readonly name = 'TimeoutError';

  constructor() {
    super(`No answer within ${TIMEOUT_MS} ms`);
  }
}

/**
 * Thrown if a class of the application returns a value that the library cannot use. The message
 * may contain the names and types of properties, but never their values, which can be secrets.
 */
export class WrongResultError extends Error {
  override readonly name = 'WrongResultError';
}

/**
 * Calls the methods of a class of the application. If a method throws, returns a value of the wrong type or takes
 * longer than 5 seconds, the failure is logged, and the call rejects with `database_unavailable` (503 over HTTP).
 */
export class ApplicationCalls {
  private readonly logger: Logger;

  /** @param calleeName the name of the class in messages, such as `user store` */
  constructor(
    context: string,
    private readonly calleeName: string,
  ) {
    this.logger = new Logger(context);
  }

  /**
   * Calls a method of the class and returns its result.
   * @param invoke calls the method. Throws a `WrongResultError` if the result has the wrong type
   * @throws AuthError `database_unavailable`
   */
  async call<T>(method: string, invoke: () => Promise<T>): Promise<T> {
    try {
      return await withTimeout(TIMEOUT_MS, invoke(), () => {
        throw new TimeoutError();
      });
    } catch (error) {
      this.logFailure(method, error);
      throw new AuthError('database_unavailable', `The ${this.calleeName} is unavailable.`, {}, 5);
    }
  }

  private logFailure(method: string, error: unknown): void {
    if (error instanceof WrongResultError) {
      this.logger.error(`${method}() of the ${this.calleeName} returned ${error.message}`);
      return;
    }
    const { summary, stack } = toFailureReport(error);
    this.logger.error(`The ${this.calleeName} failed in ${method}(): ${summary}`, stack);
  }
}

const USER =
  '{ id: string, number or bigint, username: string, passwordHash: string or null, active: boolean }, ' +
  'or null if there is no such user (in create(), if the name is taken)';

const MAX_PROPERTIES = 20;

/**
 * The types of the user properties that the library relies on. The library checks the types at runtime, because
 * JavaScript, `any` and casts bypass the compiler.
 */
const ACCEPTED: Readonly<Record<keyof StoredUser, readonly string[]>> = {
  id: ['string', 'number', 'bigint'],
  username: ['string'],
  passwordHash: ['string', 'null'],
  active: ['boolean'],
};

/**
 * Checks the result of a store, and returns the user, or null if the store returned null.
 * @throws WrongResultError if the type is wrong, or if the library cannot use the id
 */
export function checkedUser(result: unknown, store: UserStore): StoredUser | null {
  if (result === null) return null;
  if (typeOf(result) !== 'object') {
    throw new WrongResultError(`${withArticle(typeOf(result))}. Return ${USER}.`);
  }
  const user = result as Readonly<Record<keyof StoredUser, unknown>>;
  const names = Object.keys(ACCEPTED) as (keyof StoredUser)[];
  const wrong = names.filter((name) => !ACCEPTED[name].includes(typeOf(user[name])));
  if (wrong.length > 0) {
    const problems = wrong.map((name) => `${name} is ${withArticle(typeOf(user[name]))}`).join(', ');
    throw new WrongResultError(`${describe(result as object)}: ${problems}. Return ${USER}.`);
  }
  refuseUnparsedId(user.id, store);
  refuseIndistinctId(user.id);
  return result as StoredUser;
}

/**
 * Returns the result of a class of the application, after a check that the result is a boolean.
 * @param hint what the class should return
 * @throws WrongResultError if the result is not a boolean
 */
export function checkedBoolean(result: unknown, hint: string): boolean {
  if (typeof result === 'boolean') return result;
  throw new WrongResultError(`${withArticle(typeOf(result))}. ${hint}`);
}

/**
 * Throws if the ids of users are not strings and the store inherits `parseId`, which returns a string. `findById`
 * would then receive a string, for which the store may find no user.
 */
function refuseUnparsedId(id: unknown, store: UserStore): void {
  if (typeof id === 'string' || store.parseId !== UserStore.prototype.parseId) return;
  const parse = typeof id === 'bigint' ? 'BigInt(text)' : 'Number(text)';
  throw new WrongResultError(
    `a user whose id is a ${typeOf(id)}, but the store inherits parseId(), which returns a ` +
      `string. Add to the store: override parseId(text: string) { return ${parse}; }`,
  );
}

/** Throws if MySQL and MariaDB would confuse an id with another id. */
function refuseIndistinctId(id: unknown): void {
  if (typeof id !== 'string' || isDistinctId(id)) return;
  throw new WrongResultError(
    'a user whose id ends with a space. MySQL and MariaDB ignore trailing spaces. Return ids without them.',
  );
}

/** Describes an object by the names and types of its properties. */
function describe(value: object): string {
  const properties = Object.entries(value).map(([name, held]) => `${loggable(name)}: ${typeOf(held)}`);
  const more = properties.length > MAX_PROPERTIES ? ', ...' : '';
  return properties.length === 0 ? '{}' : `{ ${properties.slice(0, MAX_PROPERTIES).join(', ')}${more} }`;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function withArticle(type: string): string {
  if (type === 'null' || type === 'undefined') return type;
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}
