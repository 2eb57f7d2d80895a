import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import { BaseExceptionFilter, HttpAdapterHost } from '@nestjs/core';
import { AuthError } from '../base/errors';
import { toFailureReport } from '../base/failures';
import { replyOverTransport, setErrorHeaders } from './error-responses';
import type { AuthResponse } from './request';

/**
 * Converts an uncaught `AuthError`. Over HTTP, sends the same response as the library's routes. Over other transports,
 * reports the error in the form of the transport. `AuthModule` registers the filter as a global filter. Nest does not
 * apply global filters to gateways, so add `@UseFilters(AuthErrorFilter)` to each gateway. In a hybrid application,
 * connect microservices with `inheritAppConfig: true`.
 */
@Catch(AuthError)
export class AuthErrorFilter implements ExceptionFilter<AuthError> {
  constructor(private readonly adapterHost: HttpAdapterHost) {}

  catch(error: AuthError, host: ArgumentsHost): unknown {
    if (host.getType() !== 'http') return replyOverTransport(error, host);
    setErrorHeaders(error, host.switchToHttp().getResponse<AuthResponse>());
    return new BaseExceptionFilter(this.adapterHost.httpAdapter).catch(error, host);
  }
}

/** Sends the documented error bodies on the library's routes. */
@Catch()
export class LibraryRouteFilter implements ExceptionFilter {
  private readonly logger = new Logger('LibraryRouteFilter');

  constructor(private readonly adapterHost: HttpAdapterHost) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<AuthResponse>();
    response.header('Cache-Control', 'no-store');
    if (exception instanceof AuthError) setErrorHeaders(exception, response);
    const { status, body } = this.responseTo(exception);
    this.adapterHost.httpAdapter.reply(response, body, status);
  }

  private responseTo(exception: unknown): { status: number; body: unknown } {
    if (exception instanceof HttpException) {
      const isOfLibrary = exception instanceof AuthError;
      const body = isOfLibrary ? exception.getResponse() : { detail: exception.message };
      return { status: exception.getStatus(), body };
    }
    // For example, the application's password hasher or password check threw an error.
    const { summary, stack } = toFailureReport(exception);
    this.logger.error(`Unexpected ${summary}`, stack);
    return { status: 500, body: { detail: 'Internal server error.' } };
  }
}
