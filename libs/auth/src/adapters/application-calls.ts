import { Logger } from '@nestjs/common';
import { AuthError } from '../domain/errors';
import { toFailureReport } from '../domain/failure-report';
import { withTimeout } from '../domain/with-timeout';

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
