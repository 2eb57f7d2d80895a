import { Logger } from '@nestjs/common';
import { withTimeout } from '../base/clock';
import { AuthError } from '../base/errors';
import { loggable, toFailureReport } from '../base/failures';
import { isDistinctId, type StoredUser, type UserId, UserStore } from './user-store';

const TIMEOUT_MS = 5_000;

/**
 * Thrown if a class of the application returns a value that the library cannot use. The message may contain the names
 * and types of properties, but never their values, which can be secrets.
 */
class WrongResultError extends Error {
  override readonly name = 'WrongResultError';
}

/**
 * Calls the methods of a class of the application. If a method throws, returns a value of the wrong type or takes
 * longer than 5 seconds, the failure is logged, and the call rejects with `database_unavailable` (503 over HTTP).
 */
export class ApplicationCalls {
  /** @param calleeName the name of the class in messages, such as `user store` */
  constructor(
    private readonly context: string,
    private readonly calleeName: string,
  ) {}

  /** @param invoke calls the method. Throws a `WrongResultError` if the result has the wrong type */
  async call<T>(method: string, invoke: () => Promise<T>): Promise<T> {
    try {
      return await withTimeout(TIMEOUT_MS, invoke(), () => {
        throw Object.assign(new Error(`No answer within ${TIMEOUT_MS} ms`), { name: 'TimeoutError' });
      });
    } catch (error) {
      const logger = new Logger(this.context);
      if (error instanceof WrongResultError) {
        logger.error(`${method}() of the ${this.calleeName} returned ${error.message}`);
      } else {
        const { summary, stack } = toFailureReport(error);
        logger.error(`The ${this.calleeName} failed in ${method}(): ${summary}`, stack);
      }
      throw new AuthError('database_unavailable', `The ${this.calleeName} is unavailable.`, {}, 5);
    }
  }
}

const USER =
  '{ id: string, number or bigint, username: string, passwordHash: string or null, active: boolean }, ' +
  'or null if there is no such user (in create(), if the name is taken)';

/** The types that `checkedUser` accepts. They are checked, because JavaScript, `any` and casts bypass the compiler. */
const ACCEPTED: Readonly<Record<keyof StoredUser, readonly string[]>> = {
  id: ['string', 'number', 'bigint'],
  username: ['string'],
  passwordHash: ['string', 'null'],
  active: ['boolean'],
};

/** Returns the result of a store. @throws WrongResultError if it is no user and not null, or has an unusable id */
export function checkedUser(result: unknown, store: UserStore): StoredUser | null {
  if (result === null) return null;
  if (typeOf(result) !== 'object') throw new WrongResultError(`${withArticle(result)}. Return ${USER}.`);
  const user = result as StoredUser;
  const names = Object.keys(ACCEPTED) as (keyof StoredUser)[];
  const wrong = names.filter((name) => !ACCEPTED[name].includes(typeOf(user[name])));
  if (wrong.length > 0) {
    const properties = Object.entries(user).map(([name, value]) => `${loggable(name)}: ${typeOf(value)}`);
    const problems = wrong.map((name) => `${name} is ${withArticle(user[name])}`).join(', ');
    throw new WrongResultError(`{ ${properties.slice(0, 20).join(', ')} }: ${problems}. Return ${USER}.`);
  }
  const problem = idProblem(user.id, store);
  if (problem) throw new WrongResultError(`a user whose id ${problem}`);
  return user;
}

/** Returns the result if it is a boolean. @throws WrongResultError with a hint what to return */
export function checkedBoolean(result: unknown, hint: string): boolean {
  if (typeof result === 'boolean') return result;
  throw new WrongResultError(`${withArticle(result)}. ${hint}`);
}

function idProblem(id: UserId, store: UserStore): string | null {
  if (typeof id === 'string') {
    if (isDistinctId(id)) return null;
    return 'ends with a space. MySQL and MariaDB ignore trailing spaces. Return ids without them.';
  }
  // `findById` would receive a string, for which the store may find no user.
  if (store.parseId !== UserStore.prototype.parseId) return null;
  const parse = typeof id === 'bigint' ? 'BigInt(text)' : 'Number(text)';
  return (
    `is a ${typeof id}, but the store inherits parseId(), which returns a string. ` +
    `Add to the store: override parseId(text: string) { return ${parse}; }`
  );
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function withArticle(value: unknown): string {
  const type = typeOf(value);
  if (value === null || value === undefined) return type;
  return `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;
}
