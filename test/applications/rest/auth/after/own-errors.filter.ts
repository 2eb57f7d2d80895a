import { ArgumentsHost, Catch, ExceptionFilter } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { AuthError, AuthErrorCode, AuthErrorFilter } from 'nestjs-session-auth';

const KNOWN: Partial<Record<AuthErrorCode, { status: number; body: object }>> = {
  invalid_credentials: { status: 422, body: { status: 422, errors: { password: 'incorrectPassword' } } },
  invalid_refresh_token: { status: 401, body: { message: 'Unauthorized', statusCode: 401 } },
};

@Catch(AuthError)
export class OwnErrorsFilter implements ExceptionFilter {
  constructor(private readonly adapters: HttpAdapterHost) {}

  catch(error: AuthError, host: ArgumentsHost) {
    const known = KNOWN[error.code];
    if (!known) return new AuthErrorFilter(this.adapters).catch(error, host);
    this.adapters.httpAdapter.reply(host.switchToHttp().getResponse(), known.body, known.status);
  }
}
