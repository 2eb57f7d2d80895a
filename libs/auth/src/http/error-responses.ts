import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import { BaseExceptionFilter, HttpAdapterHost } from '@nestjs/core';
import type * as Microservices from '@nestjs/microservices';
import type * as WebSockets from '@nestjs/websockets';
import { AuthError } from '../base/errors';
import { toFailureReport } from '../base/failures';
import type { AuthResponse } from './request';

// In the response to a request without credentials, `WWW-Authenticate` contains no error code. (RFC 6750, section 3.1)
const CHALLENGE = 'Bearer realm="api"';

/** Returns the headers of the response to an error, besides `Cache-Control: no-store`. */
export function headersOf(error: AuthError): Readonly<Record<string, string>> {
  if (error.code === 'credentials_missing') return { 'WWW-Authenticate': CHALLENGE };
  if (error.code === 'access_token_invalid') return { 'WWW-Authenticate': `${CHALLENGE}, error="invalid_token"` };
  // `Retry-After` contains whole seconds. (RFC 6585, section 4; RFC 9110, section 10.2.3)
  const isTemporary = [429, 503].includes(error.getStatus());
  return isTemporary ? { 'Retry-After': String(Math.max(1, error.retryAfterSeconds ?? 1)) } : {};
}

/** Sets `Cache-Control: no-store` and the headers of an error, which are sent whichever filter responds. */
function setErrorHeaders(error: AuthError, response: AuthResponse): void {
  response.header('Cache-Control', 'no-store');
  for (const [name, value] of Object.entries(headersOf(error))) response.header(name, value);
}

/* eslint-disable @typescript-eslint/no-require-imports -- optional peers, which are installed if the application uses the transport */
const loadWebSockets = (): typeof WebSockets => require('@nestjs/websockets') as typeof WebSockets;
const loadMicroservices = (): typeof Microservices => require('@nestjs/microservices') as typeof Microservices;
/* eslint-enable @typescript-eslint/no-require-imports */

/**
 * Returns the exception with which the transport of the call reports an error. For an `AuthError` over WebSockets and
 * microservices, this is their own exception, because the content of any other one does not reach the client. Over HTTP,
 * also sets the headers of an `AuthError`.
 */
export function exceptionFor(call: ArgumentsHost, error: unknown): unknown {
  if (!(error instanceof AuthError)) return error;
  const content = { status: 'error', code: error.code, message: error.message };
  if (call.getType() === 'http') setErrorHeaders(error, call.switchToHttp().getResponse<AuthResponse>());
  if (call.getType() === 'ws') return new (loadWebSockets().WsException)(content);
  if (call.getType() === 'rpc') return new (loadMicroservices().RpcException)(content);
  return error;
}

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
    const exception = exceptionFor(host, error);
    if (host.getType() === 'http') return new BaseExceptionFilter(this.adapterHost.httpAdapter).catch(error, host);
    // The transports' own filters respond, because a WebSocket client gets no response if a filter throws.
    if (host.getType() === 'ws') return new (loadWebSockets().BaseWsExceptionFilter)().catch(exception, host);
    if (host.getType() === 'rpc') return new (loadMicroservices().BaseRpcExceptionFilter)().catch(exception, host);
    // GraphQL reports an exception that a filter throws.
    throw error;
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
    const reply = (status: number, body: object): void =>
      void this.adapterHost.httpAdapter.reply(response, body, status);
    if (exception instanceof HttpException) {
      const { message } = exception;
      return reply(
        exception.getStatus(),
        exception instanceof AuthError ? exception.getResponse() : { detail: message },
      );
    }
    // For example, the application's password hasher or password check threw an error.
    const { summary, stack } = toFailureReport(exception);
    this.logger.error(`Unexpected ${summary}`, stack);
    reply(500, { detail: 'Internal server error.' });
  }
}
