import { Request } from 'express';
import { PresentedToken, TokenSource, TransportCall } from 'nestjs-session-auth';

/** Returns the token of `Authorization: Token <token>`. */
export function tokenOf({ headers }: Request): string | undefined {
  const [scheme, token] = headers.authorization?.split(' ') ?? [];
  return scheme === 'Token' ? token : undefined;
}

export class TokenScheme extends TokenSource {
  find(call: TransportCall): PresentedToken | null {
    const accessToken = tokenOf(call.getArgByIndex<Request>(0));
    return accessToken ? { accessToken } : null;
  }
}
