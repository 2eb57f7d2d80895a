import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  type ExecutionContext,
  HttpException,
  Logger,
} from '@nestjs/common';
import { BaseExceptionFilter, HttpAdapterHost } from '@nestjs/core';
import { AuthError } from '../base/errors';
import { toFailureReport } from '../base/failures';
import { AuthHttpException, httpExceptionFor } from './error-responses';
import type { AuthResponse } from './request';

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

/** Sends the documented error bodies on the library's routes. */
@Catch()
export class LibraryRouteFilter implements ExceptionFilter {
  private readonly logger = new Logger('LibraryRouteFilter');

  constructor(private readonly adapterHost: HttpAdapterHost) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<AuthResponse>();
    response.header('Cache-Control', 'no-store');
    const exception = thrown instanceof AuthError ? httpExceptionFor(thrown, response) : thrown;
    const { status, body } = this.responseTo(exception);
    this.adapterHost.httpAdapter.reply(response, body, status);
  }

  private responseTo(exception: unknown): { status: number; body: object } {
    if (exception instanceof AuthHttpException) {
      return { status: exception.getStatus(), body: exception.getResponse() as object };
    }
    if (exception instanceof HttpException) {
      return { status: exception.getStatus(), body: { detail: exception.message } };
    }
    // For example, the application's password hasher or password check threw an error.
    const { summary, stack } = toFailureReport(exception);
    this.logger.error(`Unexpected ${summary}`, stack);
    return { status: 500, body: { detail: 'Internal server error.' } };
  }
}

/** The parts of `@nestjs/websockets` or `@nestjs/microservices` that this file uses. */
interface Transport {
  /** The exception whose content the client receives. Any other exception is reported as an internal error. */
  readonly Exception: new (error: object) => Error;
  readonly Filter: new () => { catch(exception: unknown, host: ArgumentsHost): unknown };
}

/* eslint-disable @typescript-eslint/no-require-imports -- optional peers, which are installed if the application uses the transport */
const TRANSPORTS: Readonly<Record<string, () => Transport>> = {
  ws: () => {
    const found = require('@nestjs/websockets') as Record<string, unknown>;
    return { Exception: found['WsException'], Filter: found['BaseWsExceptionFilter'] } as Transport;
  },
  rpc: () => {
    const found = require('@nestjs/microservices') as Record<string, unknown>;
    return { Exception: found['RpcException'], Filter: found['BaseRpcExceptionFilter'] } as Transport;
  },
};

/* eslint-enable @typescript-eslint/no-require-imports */

/** Returns the exception with which the transport of the call reports an error. */
export function exceptionFor(context: ExecutionContext, error: AuthError): Error {
  if (context.getType() !== 'http') return transportException(context.getType<string>(), error);
  return httpExceptionFor(error, context.switchToHttp().getResponse<AuthResponse>());
}

/**
 * Responds with the transport's own filter, because a WebSocket client gets no response if a filter throws. Throws the
 * exception if there is no such filter, for example over GraphQL.
 */
export function replyOverTransport(error: AuthError, host: ArgumentsHost): unknown {
  const type = host.getType<string>();
  const exception = transportException(type, error);
  const transport = TRANSPORTS[type]?.();
  // GraphQL reports an exception that a filter throws.
  if (!transport) throw exception;
  return new transport.Filter().catch(exception, host);
}

function transportException(type: string, error: AuthError): Error {
  const transport = TRANSPORTS[type]?.();
  if (!transport) return new AuthHttpException(error);
  return new transport.Exception({ status: 'error', code: error.code, message: error.message });
}
