import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { BaseExceptionFilter, HttpAdapterHost } from '@nestjs/core';
import { AuthError } from '../../domain/errors';
import type { AuthResponse } from '../platform/request';
import { httpExceptionFor } from './error-responses';
import { replyOverTransport } from './transport-exceptions';

/**
 * Converts an uncaught `AuthError`. Over HTTP, sends the same response as the library's routes. Over
 * other transports, reports the error in the form of the transport. `AuthModule` registers the filter
 * as a global filter. Nest does not apply global filters to gateways, so add
 * `@UseFilters(AuthErrorFilter)` to each gateway. In a hybrid application, connect microservices with
 * `inheritAppConfig: true`.
 */
@Catch(AuthError)
export class AuthErrorFilter implements ExceptionFilter<AuthError> {
  constructor(private readonly adapterHost: HttpAdapterHost) {}

  catch(error: AuthError, host: ArgumentsHost): unknown {
    if (host.getType() !== 'http') return replyOverTransport(error, host);
    const exception = httpExceptionFor(error, host.switchToHttp().getResponse<AuthResponse>());
    return new BaseExceptionFilter(this.adapterHost.httpAdapter).catch(exception, host);
  }
}
