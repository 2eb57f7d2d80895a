import { Logger } from '@nestjs/common';
import { withTimeout } from '../base/clock';
import { AuthError } from '../base/errors';
import { toFailureReport } from '../base/failures';
import { isDistinctId, type StoredUser, type UserId, UserStore } from './user-store';

/** A class of the application returned an unusable value. The message contains no values, which can be secrets. */
export class WrongResultError extends Error {}

/**
 * Calls the methods of a class of the application. If a method throws, returns a value of the wrong type or takes
 * longer than `timeoutMs`, the failure is logged, and the call rejects with `database_unavailable` (503 over HTTP).
 */
export class ApplicationCalls {
  /** @param callee the name of the class in messages, such as `user store` */
  constructor(
    private readonly context: string,
    private readonly callee: string,
    private readonly timeoutMs = 5_000,
  ) {}

  /** @param invoke calls the method. Throws a `WrongResultError` if the result has the wrong type */
  async call<T>(method: string, invoke: () => Promise<T>): Promise<T> {
    try {
      return await withTimeout(this.timeoutMs, invoke(), () => {
        throw Object.assign(new Error(`No answer within ${this.timeoutMs} ms`), { name: 'TimeoutError' });
      });
    } catch (error) {
      const { summary, stack } = toFailureReport(error);
      const logger = new Logger(this.context);
      if (error instanceof WrongResultError)
        logger.error(`${method}() of the ${this.callee} returned ${error.message}`);
      else logger.error(`The ${this.callee} failed in ${method}(): ${summary}`, stack);
      throw new AuthError('database_unavailable', `The ${this.callee} is unavailable.`, {}, 5);
    }
  }

  /** Calls a method that must return a boolean. @param hint says what to return instead of anything else */
  callBoolean(method: string, invoke: () => unknown, hint = 'Return true or false.'): Promise<boolean> {
    return this.call(method, async () => {
      const result = await invoke();
      if (typeof result === 'boolean') return result;
      throw new WrongResultError(`${kindOf(result)}. ${hint}`);
    });
  }
}

const USER =
  '{ id: string, number or bigint, username: string, passwordHash: string or null, active: boolean }, ' +
  'or null if there is no such user (in create(), if the name is taken)';

// Checked, because JavaScript, `any` and casts bypass the compiler.
const ACCEPTED: Readonly<Record<keyof StoredUser, readonly string[]>> = {
  usernames: ['undefined', 'a list of strings'],
  roles: ['undefined', 'a list of strings'],
  realm: ['undefined', 'null', 'a string'],
  id: ['a string', 'a number', 'a bigint'],
  username: ['a string'],
  passwordHash: ['a string', 'null'],
  active: ['a boolean'],
};

/** Returns the result of a store. @throws WrongResultError if it is no user and not null, or has an unusable id */
export function checkedUser(result: unknown, store: UserStore): StoredUser | null {
  if (result === null) return null;
  if (kindOf(result) !== 'an object') throw new WrongResultError(`${kindOf(result)}. Return ${USER}.`);
  const user = result as StoredUser;
  const names = Object.keys(ACCEPTED) as (keyof StoredUser)[];
  const wrong = names.filter((name) => !ACCEPTED[name].includes(kindOf(user[name])));
  const problems = wrong.map((name) => `${name} is ${kindOf(user[name])}`).join(', ');
  if (problems !== '') throw new WrongResultError(`a user whose ${problems}. Return ${USER}.`);
  const problem = idProblem(user.id, store);
  if (problem) throw new WrongResultError(`a user whose id ${problem}`);
  return user;
}

const TRAILING_SPACE = 'ends with a space. MySQL and MariaDB ignore trailing spaces. Return ids without them.';

function idProblem(id: UserId, store: UserStore): string | null {
  if (typeof id === 'string') return isDistinctId(id) ? null : TRAILING_SPACE;
  // `findById` would receive a string, for which the store may find no user.
  if (store.parseId !== UserStore.prototype.parseId) return null;
  const parse = typeof id === 'bigint' ? 'BigInt(text)' : 'Number(text)';
  return `is a ${typeof id}, but parseId() returns a string. Add override parseId(text: string) { return ${parse}; }`;
}

export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return value.every((one) => typeof one === 'string') ? 'a list of strings' : 'an array';
  if (typeof value === 'object') return 'an object';
  return `a ${typeof value}`;
}
