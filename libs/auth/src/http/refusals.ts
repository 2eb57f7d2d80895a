import type { ArgumentsHost, ExecutionContext } from '@nestjs/common';
import { AuthError } from '../domain/errors';
import { AuthHttpException, prepareRefusal, type HeaderSink } from './auth-http-exception';

/** What is used of `@nestjs/websockets` or `@nestjs/microservices`. */
interface Transport {
  /** What is answered as it is; of any other exception the client learns that something went wrong inside. */
  readonly Exception: new (error: object) => Error;
  readonly Filter: new () => { catch(exception: unknown, host: ArgumentsHost): unknown };
}

/* eslint-disable @typescript-eslint/no-require-imports -- optional peers, which are there where calls come from them */
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

/** A refusal as the transport of the call answers it: on all of them with the message, which is safe to show. */
export function refusalOn(context: ExecutionContext, error: AuthError): Error {
  if (context.getType() !== 'http') return exceptionOn(context.getType<string>(), error);
  return prepareRefusal(context.switchToHttp().getResponse<HeaderSink>(), error);
}

/** What a filter does where it is not HTTP: the transport answers, which would wait for ever if the filter threw. */
export function answerElsewhere(thrown: unknown, host: ArgumentsHost): unknown {
  const type = host.getType<string>();
  const exception = thrown instanceof AuthError ? exceptionOn(type, thrown) : thrown;
  const transport = TRANSPORTS[type]?.();
  // GraphQL answers what is thrown here; of others it is not known.
  if (!transport) throw exception;
  return new transport.Filter().catch(exception, host);
}

function exceptionOn(type: string, error: AuthError): Error {
  const transport = TRANSPORTS[type]?.();
  if (!transport) return new AuthHttpException(error);
  return new transport.Exception({ status: 'error', code: error.code, message: error.message });
}
