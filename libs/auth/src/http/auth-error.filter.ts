import { Catch, HttpException, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { AuthError } from '../domain/errors';
import { kindOf } from '../domain/loggable';
import { AuthHttpException, prepareRefusal, type HeaderSink } from './auth-http-exception';
import { answerElsewhere } from './refusals';

/**
 * Answers in the library's shapes whatever goes wrong on its routes. A host that calls `AuthService` from routes of its
 * own puts it there with `@UseFilters(AuthErrorFilter)`. On other transports refusals are answered as the guard's are.
 */
@Catch()
export class AuthErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('AuthErrorFilter');

  constructor(private readonly adapterHost: HttpAdapterHost) {}

  catch(thrown: unknown, host: ArgumentsHost): unknown {
    if (host.getType() !== 'http') return answerElsewhere(thrown, host);
    const response = host.switchToHttp().getResponse<HeaderSink>();
    response.header('Cache-Control', 'no-store');
    const exception = thrown instanceof AuthError ? prepareRefusal(response, thrown) : thrown;
    const { status, body } = this.answerTo(exception);
    return void this.adapterHost.httpAdapter.reply(response, body, status);
  }

  private answerTo(exception: unknown): { status: number; body: object } {
    if (exception instanceof AuthHttpException) {
      return { status: exception.getStatus(), body: exception.getResponse() as object };
    }
    if (exception instanceof HttpException) {
      return { status: exception.getStatus(), body: { detail: exception.message } };
    }
    // Its text may hold anything; its kind may be told.
    this.logger.error(`Unexpected ${kindOf(exception)} on a route.`);
    return { status: 500, body: { detail: 'Internal server error.' } };
  }
}
