import { readAnswer, refusalOf } from './answers.js';
import type { ClientEnvironment } from './environment.js';
import { ClientError } from './errors.js';
import { json, lost, within } from './requests.js';
import { readPair, type TokenPair } from './wire.js';

/** What is known of a refresh token after it was sent, or was to be. */
export type RefreshAnswer =
  | { readonly kind: 'renewed'; readonly pair: TokenPair }
  /** The session is over. */
  | { readonly kind: 'refused' }
  /** The server has not seen it, or not looked at it: it is as good as before. */
  | { readonly kind: 'untouched'; readonly error: ClientError }
  /** It may be used up. */
  | { readonly kind: 'unknown'; readonly error: ClientError };

/**
 * Answers of what stands in front, or of the server's router and body parser: the refresh itself answers 200, 400 and 503 only. A
 * 503 says that the database was too slow, and its work may be done yet; a 5xx of a proxy and a 408 say that nobody waited for the
 * end. After those it is not known.
 */
const UNTOUCHED = [401, 403, 404, 405, 413, 415, 429];

/** Sends a refresh token, once. It never rejects. */
export async function requestRefresh(
  url: string,
  refreshToken: string,
  timeoutMs: number,
  world: ClientEnvironment,
): Promise<RefreshAnswer> {
  if (!world.isOnline()) return { kind: 'untouched', error: new ClientError('offline', 'The browser is offline.') };
  try {
    const request = new Request(url, json('POST', { refresh_token: refreshToken }));
    return await within(timeoutMs, world, request, judge);
  } catch (cause) {
    const error = lost(cause);
    return { kind: error.code === 'offline' ? 'untouched' : 'unknown', error };
  }
}

async function judge(response: Response): Promise<RefreshAnswer> {
  const { status, type } = response;
  // Somebody else's 200 is no pair, and then nothing is known.
  if (response.ok) return { kind: 'renewed', pair: readPair(await readAnswer(response)) };
  const isRedirect = type === 'opaqueredirect' || (status >= 300 && status < 400);
  const kind = isRedirect || UNTOUCHED.includes(status) ? 'untouched' : 'unknown';
  const error = await refusalOf(response);
  // Somebody else's 400 (a proxy's, a body parser's) says nothing of the token.
  if (status === 400) return error.code === 'invalid_credentials' ? { kind: 'refused' } : { kind: 'untouched', error };
  return { kind, error };
}
