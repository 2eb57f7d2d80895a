import { Catch, HttpException, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { AuthError } from '../../domain/errors';
import { toFailureReport } from '../../domain/failure-report';
import type { AuthResponse } from '../platform/request';
import { AuthHttpException, httpExceptionFor } from './error-responses';

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
