import { ClientError } from './errors.js';
import { NO_PAIR, type Tokens } from './token-storage.js';
import { readPair, readRecord, recordOf, type TokenPair } from './wire.js';

/** How requests carry the session. */
export interface Transport {
  readonly usesCookies: boolean;
  /** Adds the credentials to a request, in place of any others; `tokens` is null for a login or a refresh. */
  readonly sign: (request: Request, tokens: Tokens | null) => Request;
  /** The pair in an answer. */
  readPair(body: unknown): TokenPair;
  /** Whether a response rejects the credentials themselves, so that a refresh may help. */
  isRefused(response: Response): Promise<boolean>;
}

/** The client stores the tokens, and sends them as headers and bodies. */
const BEARER: Transport = {
  usesCookies: false,
  sign(request, tokens) {
    if (tokens) request.headers.set('Authorization', `Bearer ${tokens.accessToken}`);
    return request;
  },
  readPair,
  isRefused: (response) => isRefusal(response, /\berror="invalid_token"/, ['access_token_invalid']),
};

/** The browser keeps the tokens as cookies, which no script can read. */
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
    throw new ClientError('unexpected_answer', 'The server needs its option `cookies`.');
  },
  // The browser removes a cookie that has expired.
  isRefused: (response) => isRefusal(response, /^Bearer\b/i, ['credentials_missing', 'access_token_invalid']),
};

export function transportOf(name: 'bearer' | 'cookie'): Transport {
  return name === 'cookie' ? COOKIE : BEARER;
}

/**
 * Pages of another origin see the header only if the server exposes it
 * (`Access-Control-Expose-Headers: WWW-Authenticate`), so the body has a code too.
 */
async function isRefusal(response: Response, challenges: RegExp, codes: readonly unknown[]): Promise<boolean> {
  if (response.status !== 401) return false;
  const challenge = response.headers.get('WWW-Authenticate');
  return challenge === null ? codes.includes((await readRecord(response.clone()))['code']) : challenges.test(challenge);
}
