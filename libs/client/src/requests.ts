import { ClientError, type ClientErrorCode } from './errors.js';
import type { Settings } from './options.js';
import type { Tokens } from './token-storage.js';
import { inCamelCase, readRecord, text, type TokenPair } from './wire.js';

/** Returns the options of a request. Redirects are not followed, because they could send credentials elsewhere. */
export function json(method: string, body?: object): RequestInit {
  const content = body && { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
  return { method, redirect: 'manual', ...content };
}

/**
 * Sends a request and reads the response with `read`.
 * @throws ClientError `no_answer` if sending and reading take longer than `timeoutMs`
 */
export async function sendInTime<T>(
  { timeoutMs, environment: { fetch, clock } }: Settings,
  request: Request,
  read: (response: Response) => T | Promise<T>,
): Promise<T> {
  const done = new AbortController();
  const answer = fetch(new Request(request, { signal: done.signal })).then(read);
  const timeout = clock.wait(timeoutMs, done.signal).then(() => {
    throw new ClientError('no_answer', 'No response in time.');
  });
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    done.abort();
  }
}

/**
 * Returns the JSON of a successful response.
 * @throws ClientError for any other response, or `no_answer` if the body is not complete JSON
 */
export async function readAnswer(response: Response): Promise<unknown> {
  const { ok, status, url } = response;
  if (!ok) throw await refusalOf(response);
  try {
    return await response.json();
  } catch (cause) {
    throw new ClientError('no_answer', `The response of ${url} is not JSON. ${CHECK_URL}`, { status, cause });
  }
}

const CHECK_URL = 'Check `baseUrl` and `authPath`.';

const BY_STATUS: Readonly<Record<number, ClientErrorCode>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  429: 'too_many_attempts',
  503: 'unavailable',
};

const OWN_CODES = [
  'recent_login_required',
  'second_factor_required',
  'session_limit_reached',
  'cross_site_request',
] as const;

/** Returns the error for an unsuccessful response. A proxy may have sent the response, with a body of any shape. */
export async function refusalOf(response: Response): Promise<ClientError> {
  const { status, headers } = response;
  const body = await readRecord(response);
  const { non_field_errors: general, ...others } = Object.fromEntries(Object.entries(body).filter(isMessages));
  const fields = inCamelCase(others);
  const [first] = Object.values(fields).flat();
  const message = typeof body['detail'] === 'string' ? body['detail'] : (general?.[0] ?? first ?? problemOf(response));
  const badRequest = general ? 'invalid_credentials' : first !== undefined ? 'invalid_fields' : 'bad_request';
  const code = OWN_CODES.find((own) => own === body['code']) ?? codeFor(status, badRequest);
  const detail = code === 'cross_site_request' ? `${message} See \`cookies.trustedOrigins\`.` : message;
  // The server sends `Retry-After` (RFC 9110, section 10.2.3) in seconds, never as a date.
  const retryAfter = /^\d+$/.exec(headers.get('Retry-After') ?? '');
  const loginTicket = code === 'second_factor_required' ? text(body, 'login_ticket') : null;
  return new ClientError(code, detail, {
    status,
    fields,
    retryAfter: retryAfter && Number(retryAfter[0]),
    loginTicket,
  });
}

/** Describes a response without a message. A redirect that is not followed has the status 0 in browsers. */
function problemOf({ status, url, headers }: Response): string {
  if (status < 400) return `${url} redirects to ${headers.get('Location') ?? 'another URL'}. ${CHECK_URL}`;
  return `Status ${status} of ${url}.${status === 404 ? ` ${CHECK_URL}` : ''}`;
}

function codeFor(status: number, badRequest: ClientErrorCode): ClientErrorCode {
  return status === 400 ? badRequest : (BY_STATUS[status] ?? 'unexpected_answer');
}

function isMessages(entry: [string, unknown]): entry is [string, string[]] {
  return Array.isArray(entry[1]) && entry[1].every((text) => typeof text === 'string');
}

/** Returns the `ClientError` for a request that failed. */
function noResponse(cause: unknown): ClientError {
  return cause instanceof ClientError ? cause : new ClientError('no_answer', 'No response.', { cause });
}

/** Discards the body of a response. Does not wait: if other code has cloned the response, as MSW does, `cancel` hangs. */
export function discard({ body }: Response): void {
  body?.cancel().catch(() => undefined);
}

/** Throws a network error of `fetch`, which is a `TypeError`, as a `ClientError`. Throws other errors unchanged. */
export function rethrow(cause: unknown): never {
  // Compares the name, because frames have their own `TypeError` class.
  throw (cause as Error | null)?.name === 'TypeError' ? noResponse(cause) : cause;
}

/** The result of an attempt to send a refresh token. */
export type RefreshAnswer =
  | { readonly kind: 'renewed'; readonly pair: TokenPair }
  /** The server refuses the token. */
  | { readonly kind: 'refused' }
  /** The server has not used the token. */
  | { readonly kind: 'unused'; readonly error: ClientError }
  /** The server may have used the token. */
  | { readonly kind: 'unknown'; readonly error: ClientError };

/**
 * The statuses after which the refresh token is certainly unused. Responses with these statuses
 * come from a proxy, or from checks of the server before it uses the token. `classify` handles the
 * 400 that refuses the token. After a 503, the database may still commit. After a 408 or another
 * 5xx status, a proxy may have stopped waiting.
 */
const UNUSED_STATUSES = [400, 401, 403, 404, 405, 413, 415, 429];

/**
 * Returns an error if the application cannot be reached, otherwise null. Asks with a request without credentials, before
 * a request that must not get lost, because browsers do not report whether a failed request was sent. A 5xx is the
 * response of a proxy whose application does not run.
 */
export async function findOutage(settings: Settings): Promise<ClientError | null> {
  const init = { ...json('HEAD'), cache: 'no-store', credentials: 'omit' } as const;
  const offline = (cause: unknown): ClientError =>
    new ClientError('offline', 'The server cannot be reached.', { cause });
  return sendInTime(settings, new Request(settings.authUrl('token/refresh'), init), ({ status }) =>
    // 501: a proxy that does not know HEAD.
    status < 500 || status === 501 ? null : offline(status),
  ).catch(offline);
}

/** Sends a request that must not get lost. @throws ClientError `offline` if nothing was sent */
export async function sendIfReachable<T>(
  settings: Settings,
  request: Request,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const outage = await findOutage(settings);
  if (outage) throw outage;
  return sendInTime(settings, request, read).catch(rethrow);
}

/** Sends a refresh token once. Never rejects. */
export async function requestRefresh(settings: Settings, tokens: Tokens): Promise<RefreshAnswer> {
  const { usesCookies, sign } = settings.transport;
  try {
    const request = new Request(settings.authUrl('token/refresh'), {
      ...json('POST', usesCookies ? undefined : { refresh_token: tokens.refreshToken }),
      // The browser stores the cookies of the response even if the user leaves the page.
      keepalive: usesCookies,
    });
    return await sendInTime(settings, sign(request, null), (response) => classify(response, settings));
  } catch (cause) {
    return { kind: 'unknown', error: noResponse(cause) };
  }
}

async function classify(response: Response, { transport }: Settings): Promise<RefreshAnswer> {
  // Reading an unexpected body, for example of a proxy, can throw. The outcome is then unknown.
  if (response.ok) return { kind: 'renewed', pair: transport.readPair(await readAnswer(response)) };
  const error = await refusalOf(response);
  if (error.code === 'invalid_credentials') return { kind: 'refused' };
  const isUnused = response.status < 400 || UNUSED_STATUSES.includes(response.status);
  return { kind: isUnused ? 'unused' : 'unknown', error };
}
