import type { Type } from '@nestjs/common';
import { type AuthRequest, type PresentedToken, TokenSource, type TransportCall } from 'nestjs-session-auth';

/** Reads the access token from the header `X-Token` of HTTP requests, after `json ` any value as the token. */
export class HeaderTokens extends TokenSource {
  find(call: TransportCall): PresentedToken | null {
    if (call.getType() !== 'http') return null;
    const token = call.getArgByIndex<AuthRequest>(0).headers['x-token'];
    if (token === 'failure') throw new TypeError('the shelf is empty');
    if (String(token).startsWith('json ')) return { accessToken: JSON.parse(String(token).slice(5)) as string };
    return typeof token === 'string' ? { accessToken: token } : null;
  }
}

/** Returns a token source that reads the property `token` of an argument, such as a message. */
export const tokensOfArgument = (index: number): Type<TokenSource> =>
  class extends TokenSource {
    find(call: TransportCall): PresentedToken | null {
      const { token } = call.getArgByIndex<{ readonly token?: string } | undefined>(index) ?? {};
      return token === undefined ? null : { accessToken: token };
    }
  };
