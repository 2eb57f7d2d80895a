import type { ArgumentsHost, ExecutionContext } from '@nestjs/common';
import { AuthError } from '../base/errors';
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
export function setErrorHeaders(error: AuthError, response: AuthResponse): void {
  response.header('Cache-Control', 'no-store');
  for (const [name, value] of Object.entries(headersOf(error))) response.header(name, value);
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

/**
 * Returns the exception with which the transport of the call reports an error. For an `AuthError` over WebSockets and
 * microservices, this is their own exception. Over HTTP, also sets the headers of an `AuthError`.
 */
export function exceptionFor(context: ExecutionContext, error: unknown): unknown {
  if (!(error instanceof AuthError)) return error;
  if (context.getType() === 'http') setErrorHeaders(error, context.switchToHttp().getResponse<AuthResponse>());
  return transportException(TRANSPORTS[context.getType<string>()]?.(), error);
}

/**
 * Responds with the transport's own filter, because a WebSocket client gets no response if a filter throws. Throws the
 * error if there is no such filter, for example over GraphQL.
 */
export function replyOverTransport(error: AuthError, host: ArgumentsHost): unknown {
  const transport = TRANSPORTS[host.getType<string>()]?.();
  // GraphQL reports an exception that a filter throws.
  if (!transport) throw error;
  return new transport.Filter().catch(transportException(transport, error), host);
}

function transportException(transport: Transport | undefined, error: AuthError): Error {
  return transport ? new transport.Exception({ status: 'error', code: error.code, message: error.message }) : error;
}
