import { Catch, HttpException, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { AuthError } from '../../domain/errors';
import { kindOf } from '../../domain/loggable';
import type { AuthResponse } from '../platform/request';
import { AuthHttpException, httpExceptionFor } from './error-responses';
import { replyOverTransport } from './transport-exceptions';

/**
 * Reports every error in the library's shapes, on all transports. The library's routes have it;
 * apply it with `@UseFilters(AuthErrorFilter)` to your own routes that call `AuthService`.
 */
@Catch()
export class AuthErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('AuthErrorFilter');

  constructor(private readonly adapterHost: HttpAdapterHost) {}

  catch(thrown: unknown, host: ArgumentsHost): unknown {
    if (host.getType() !== 'http') return replyOverTransport(thrown, host);
    const response = host.switchToHttp().getResponse<AuthResponse>();
    response.header('Cache-Control', 'no-store');
    const exception = thrown instanceof AuthError ? httpExceptionFor(thrown, response) : thrown;
    const { status, body } = this.responseTo(exception);
    return void this.adapterHost.httpAdapter.reply(response, body, status);
  }

  private responseTo(exception: unknown): { status: number; body: object } {
    if (exception instanceof AuthHttpException) {
      return { status: exception.getStatus(), body: exception.getResponse() as object };
    }
    if (exception instanceof HttpException) {
      return { status: exception.getStatus(), body: { detail: exception.message } };
    }
    // Its message may contain anything, so only its kind is logged.
    this.logger.error(`Unexpected ${kindOf(exception)} on a route.`);
    return { status: 500, body: { detail: 'Internal server error.' } };
  }
}
