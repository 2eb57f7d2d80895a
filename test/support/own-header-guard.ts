import { AuthError, type AuthRequest, BearerAuthGuard } from 'nestjs-session-auth';

/** A guard of the application that reads its token from a different header. */
export class OwnHeaderGuard extends BearerAuthGuard {
  protected override getToken({ headers }: AuthRequest): string {
    const token = headers['x-token'];
    if (typeof token !== 'string') throw new AuthError('credentials_missing', 'No X-Token was sent.');
    return token;
  }
}
