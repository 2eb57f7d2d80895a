import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { BaseExceptionFilter, HttpAdapterHost } from '@nestjs/core';
import { AuthError } from '../../domain/errors';
import type { AuthResponse } from '../platform/request';
import { httpExceptionFor } from './error-responses';
import { replyOverTransport } from './transport-exceptions';

/**
 * Responds to an `AuthError` as the library's routes do, on all transports, and to nothing else.
 * `AuthModule` registers it for all routes. Gateways, for which Nest has no global filters, need
 * `@UseFilters(AuthErrorFilter)`.
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
