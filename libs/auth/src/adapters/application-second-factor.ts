import { Logger } from '@nestjs/common';
import type { ClientInfo } from '../domain/client';
import { AuthError } from '../domain/errors';
import { reportFailure } from '../domain/failure-report';
import { type IdentifiedUser, SecondFactor } from '../domain/ports/login-tickets';
import { withTimeout } from '../domain/with-timeout';

/** A second factor that has not answered by then "does not answer", as a user store. */
const SECOND_FACTOR_TIMEOUT_MS = 5_000;

/** The application's own second factor. Whatever it returns but a boolean, no session is opened by one factor. */
export class ApplicationSecondFactor extends SecondFactor {
  private readonly logger = new Logger('AuthSecondFactor');

  constructor(private readonly secondFactor: SecondFactor) {
    super();
  }

  async isRequired(user: IdentifiedUser, client: ClientInfo): Promise<boolean> {
    const result = await this.ask(user, client);
    if (typeof result === 'boolean') return result;
    const returned = result === null ? 'null' : typeof result;
    return this.fail(`The second factor returned from isRequired() ${returned}. Return true or false.`);
  }

  private async ask(user: IdentifiedUser, client: ClientInfo): Promise<unknown> {
    try {
      const answer = (async (): Promise<unknown> => this.secondFactor.isRequired(user, client))();
      return await withTimeout(SECOND_FACTOR_TIMEOUT_MS, answer, () => {
        throw new Error(`No answer within ${SECOND_FACTOR_TIMEOUT_MS} ms`);
      });
    } catch (error) {
      const { summary, stack } = reportFailure(error);
      return this.fail(`The second factor failed in isRequired(): ${summary}`, stack);
    }
  }

  private fail(message: string, stack?: string): never {
    this.logger.error(message, ...(stack === undefined ? [] : [stack]));
    throw new AuthError('database_unavailable', 'The second factor does not answer.', {}, 5);
  }
}
