import type { ArgumentsHost, ExecutionContext } from '@nestjs/common';
import type { AuthError } from '../../domain/errors';
import type { AuthResponse } from '../platform/request';
import { AuthHttpException, httpExceptionFor } from './error-responses';

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
