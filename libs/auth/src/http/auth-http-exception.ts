import { HttpException } from '@nestjs/common';
import type { AuthError } from '../domain/errors';
import { ERROR_RESPONSES } from './error-responses';

/** What is used of a response: the same on Express and Fastify. */
export interface HeaderSink {
  header(name: string, value: string): unknown;
}

/** A refusal as Nest answers it, with the library's own body, on the routes of the host too. */
export class AuthHttpException extends HttpException {
  constructor(readonly error: AuthError) {
    const { status, body } = ERROR_RESPONSES[error.code];
    super(body(error), status);
    // What GraphQL tells.
    this.message = error.message;
  }
}

/** Sets the headers of a refusal: before it is thrown, so that they are there whoever writes the answer. */
export function prepareRefusal(response: HeaderSink, error: AuthError): AuthHttpException {
  response.header('Cache-Control', 'no-store');
  for (const [name, value] of Object.entries(ERROR_RESPONSES[error.code].headers?.(error) ?? {}))
    response.header(name, value);
  return new AuthHttpException(error);
}
