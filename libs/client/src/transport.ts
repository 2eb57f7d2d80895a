import { ClientError } from './errors.js';
import { NO_PAIR, type Tokens } from './token-storage.js';
import { readPair, readRecord, recordOf, type TokenPair } from './wire.js';

/** How requests carry the session. */
export interface Transport {
  readonly usesCookies: boolean;
  /**
   * Adds the credentials to a request, in place of its `Authorization` header. `tokens` is null for
   * a login or a refresh.
   */
  readonly sign: (request: Request, tokens: Tokens | null) => Request;
  /** Returns the token pair in the body of a response, or with cookies an empty pair. */
  readPair(body: unknown): TokenPair;
  /** Returns whether a response refuses the credentials themselves, so that a refresh may help. */
  isRefused(response: Response): Promise<boolean>;
}

/** The client stores the tokens, and sends them in headers and bodies. */
const BEARER: Transport = {
  usesCookies: false,
  sign(request, tokens) {
    if (tokens) request.headers.set('Authorization', `Bearer ${tokens.accessToken}`);
    return request;
  },
  readPair,
  isRefused: (response) => isRefusal(response, /\berror="invalid_token"|^access_token_invalid$/),
};

/** The browser stores the tokens in cookies, which no script can read. */
const COOKIE: Transport = {
  usesCookies: true,
  sign(request) {
    const signed = new Request(request, { credentials: 'include' });
    // The server prefers a `Bearer` header to cookies.
    signed.headers.delete('Authorization');
    signed.headers.set('X-Auth-Transport', 'cookie');
    return signed;
  },
  readPair(body) {
    if (recordOf(body)['access_token'] === undefined) return NO_PAIR;
    throw new ClientError('unexpected_answer', 'The server sent tokens. Set its option `cookies`.');
  },
  // The browser removes an expired cookie, so that the request has no credentials.
  isRefused: (response) => isRefusal(response, /^(Bearer\b|credentials_missing$|access_token_invalid$)/i),
};

export function transportOf(name: 'bearer' | 'cookie' | undefined): Transport {
  return name === 'cookie' ? COOKIE : BEARER;
}

/**
 * Returns whether a response is a 401 whose challenge matches, or whose code if the page sees no challenge. A page of
 * another origin sees the challenge only if the server exposes it (`Access-Control-Expose-Headers: WWW-Authenticate`).
 */
async function isRefusal(response: Response, pattern: RegExp): Promise<boolean> {
  if (response.status !== 401) return false;
  const challenge = response.headers.get('WWW-Authenticate');
  return pattern.test(challenge ?? String((await readRecord(response.clone()))['code']));
}
