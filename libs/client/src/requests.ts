import { ClientError, type ClientErrorCode } from './errors.js';
import type { Settings } from './options.js';
import type { Tokens } from './token-storage.js';
import { inCamelCase, readRecord, recordOf, type TokenPair } from './wire.js';

/** A request with or without a JSON body. Redirects are not followed: they would carry passwords and tokens away. */
export function json(method: string, body?: object): RequestInit {
  const content = body && { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
  return { method, redirect: 'manual', ...content };
}

/** Sends a request and reads the whole answer within `timeoutMs`. */
export async function sendInTime<T>(
  { timeoutMs, environment: { fetch, clock } }: Settings,
  request: Request,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const done = new AbortController();
  const answer = fetch(new Request(request, { signal: done.signal })).then(read);
  const timeout = clock.wait(timeoutMs, done.signal).then(() => {
    throw new ClientError('no_answer', 'No answer came in time.');
  });
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    done.abort();
  }
}

/** The JSON of a successful answer. Throws a refusal. */
export async function readAnswer(response: Response): Promise<unknown> {
  if (!response.ok) throw await refusalOf(response);
  try {
    return await response.json();
  } catch (cause) {
    throw new ClientError('no_answer', 'The answer is incomplete.', { status: response.status, cause });
  }
}

const BY_STATUS: Readonly<Record<number, ClientErrorCode>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  429: 'too_many_attempts',
  503: 'unavailable',
};

const OWN_CODES = ['recent_login_required', 'session_limit_reached', 'cross_site_request'] as const;

/** The error of a refusal, which may be a proxy's with a body of any shape. */
export async function refusalOf(response: Response): Promise<ClientError> {
  const { status, headers } = response;
  const body = await readRecord(response);
  const { non_field_errors: general, ...others } = Object.fromEntries(Object.entries(body).filter(isMessages));
  const fields = inCamelCase(others);
  const [first] = Object.values(fields).flat();
  const said = typeof body['detail'] === 'string' ? body['detail'] : (general?.[0] ?? first ?? `Answered ${status}.`);
  const badRequest = general ? 'invalid_credentials' : first !== undefined ? 'invalid_fields' : 'bad_request';
  const code =
    OWN_CODES.find((own) => own === body['code']) ??
    (status === 400 ? badRequest : (BY_STATUS[status] ?? 'unexpected_answer'));
  const detail = code === 'cross_site_request' ? `${said} See \`trustedOrigins\`.` : said;
  // `Retry-After` (RFC 9110, section 10.2.3) in seconds: the server never sends a date.
  const retryAfter = /^\d+$/.exec(headers.get('Retry-After') ?? '');
  return new ClientError(code, detail, { status, fields, retryAfter: retryAfter && Number(retryAfter[0]) });
}

function isMessages(entry: [string, unknown]): entry is [string, string[]] {
  return Array.isArray(entry[1]) && entry[1].every((text) => typeof text === 'string');
}

/** The `ClientError` of a request without an answer. */
function lost(cause: unknown): ClientError {
  if (cause instanceof ClientError) return cause;
  return neverSent(cause) ? unreachable(cause) : new ClientError('no_answer', 'No answer came.', { cause });
}

function unreachable(cause: unknown): ClientError {
  return new ClientError('offline', 'The server cannot be reached.', { cause });
}

/** Throws the platform's network error (a TypeError, as `fetch` defines it) as a `ClientError`, any other unchanged. */
export function rethrow(cause: unknown): never {
  // By its name: the TypeError of a frame is another class than that of its page.
  throw (cause as Error | null)?.name === 'TypeError' ? lost(cause) : cause;
}

/** Whether the connection failed, so that nothing was sent. Only Node reports this, not browsers. */
function neverSent(error: unknown): boolean {
  const { cause } = recordOf(error);
  // One error per address that was tried.
  const { errors } = recordOf(cause);
  const failures: readonly unknown[] = Array.isArray(errors) && errors.length > 0 ? errors : [cause];
  return failures.map(recordOf).every(({ syscall, code }) => {
    return syscall === 'connect' || syscall === 'getaddrinfo' || code === 'UND_ERR_CONNECT_TIMEOUT';
  });
}

/** What is known of a refresh token after the attempt to send it. */
export type RefreshAnswer =
  | { readonly kind: 'renewed'; readonly pair: TokenPair }
  /** The session has ended. */
  | { readonly kind: 'refused' }
  /** The server has not processed the token: it is still unused. */
  | { readonly kind: 'untouched'; readonly error: ClientError }
  /** The token may be used. */
  | { readonly kind: 'unknown'; readonly error: ClientError };

/**
 * Responses of a proxy, or of the server's router and body parser: the refresh itself answers with
 * 200, 400 and 503 only. A 503 says that the database was too slow, and may commit yet; a 408 and a
 * proxy's 5xx say that the proxy stopped waiting. After those the outcome is unknown.
 */
const UNTOUCHED = [400, 401, 403, 404, 405, 413, 415, 429];

/**
 * Returns an error where the browser may be offline and the server does not answer. A browser without a network says that
 * it is offline, though the server may be on the same machine.
 */
export async function findOffline(settings: Settings): Promise<ClientError | null> {
  if (settings.environment.isOnline()) return null;
  const probe = new Request(settings.authUrl('token/refresh/'), { method: 'HEAD', credentials: 'omit' });
  return sendInTime(settings, probe, () => Promise.resolve(null)).catch((cause: unknown) => unreachable(cause));
}

/** Sends a refresh token, once. It never rejects. */
export async function requestRefresh(settings: Settings, tokens: Tokens): Promise<RefreshAnswer> {
  const { usesCookies, sign } = settings.transport;
  try {
    const request = new Request(settings.authUrl('token/refresh/'), {
      ...json('POST', usesCookies ? undefined : { refresh_token: tokens.refreshToken }),
      // The browser stores the cookies of the response although the page is left.
      keepalive: usesCookies,
    });
    return await sendInTime(settings, sign(request, null), (response) => classify(response, settings));
  } catch (cause) {
    const error = lost(cause);
    return { kind: error.code === 'offline' ? 'untouched' : 'unknown', error };
  }
}

async function classify(response: Response, { transport }: Settings): Promise<RefreshAnswer> {
  // A 200 without a pair is a proxy's: it throws, and the outcome is unknown.
  if (response.ok) return { kind: 'renewed', pair: transport.readPair(await readAnswer(response)) };
  const error = await refusalOf(response);
  if (error.code === 'invalid_credentials') return { kind: 'refused' };
  // A redirect that is not followed has the status 0 in browsers.
  const isUntouched = response.status < 400 || UNTOUCHED.includes(response.status);
  return { kind: isUntouched ? 'untouched' : 'unknown', error };
}
