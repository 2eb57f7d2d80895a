import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { BaseExceptionFilter, HttpAdapterHost } from '@nestjs/core';
import { AuthError } from '../../domain/errors';
import type { AuthResponse } from '../platform/request';
import { httpExceptionFor } from './error-responses';
import { replyOverTransport } from './transport-exceptions';

/**
 * Converts an `AuthError` that a handler throws. Over HTTP, sends the same response as the
 * library's routes. Over other transports, reports the error in the form of the transport.
 * `AuthModule` registers the filter for all routes. Nest has no global filters for gateways, so add
 * `@UseFilters(AuthErrorFilter)` to each gateway.
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
