/** Why a call failed. Some codes are the `code` in the server's response. */
export type ClientErrorCode =
  | 'signed_out' // Nobody is signed in, or the session has ended.
  | 'session_changed' // Another login has replaced the session that this tab shows. Nothing was sent.
  | 'foreign_origin' // The origin of the URL may not receive the credentials. Nothing was sent.
  | 'cookie_transport' // The method requires tokens, but the client uses cookies. Nothing was sent.
  | 'cookies_blocked' // The login succeeded, but the browser has not kept its cookies.
  | 'offline' // The server cannot be reached, and has not carried out the call.
  | 'no_answer' // The response is missing, incomplete or not JSON. The outcome is unknown.
  | 'invalid_fields' // 400: see `fields`.
  | 'invalid_credentials' // 400 of a login: the server refuses the name and password.
  | 'bad_request'
  | 'unauthorized' // 401.
  | 'recent_login_required' // 403: a recent login is required.
  | 'second_factor_required' // 403 of a login: the password is correct. Continue with `loginTicket`.
  | 'session_limit_reached' // 403: the session limit refuses the login.
  | 'cross_site_request' // 403: the server does not trust the origin of the page.
  | 'forbidden'
  | 'not_found'
  | 'too_many_attempts' // 429, usually with `retryAfter`.
  | 'unavailable' // 503, usually with `retryAfter`.
  | 'unexpected_answer'; // Any other response, or incomplete tokens.

/** The details of a failed call, from which a `ClientError` is created. */
export interface ClientErrorFacts {
  readonly status?: number | null;
  readonly fields?: Readonly<Record<string, readonly string[]>>;
  readonly retryAfter?: number | null;
  readonly loginTicket?: string | null;
  readonly cause?: unknown;
}

/** The error of a failed call. Its message contains no token and no password. */
export class ClientError extends Error {
  override readonly name: string = 'ClientError';
  /** The HTTP status, or null if unknown. */
  readonly status: number | null;
  /** The messages of each invalid field, by the name of the field in camelCase. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /** The number of seconds until the next attempt is allowed, or null if unknown. */
  readonly retryAfter: number | null;
  // The field is private, so that logs of the error do not contain the ticket.
  readonly #loginTicket: string | null;

  constructor(
    readonly code: ClientErrorCode,
    /** The message from the server, or a message from the client if the server sent none. */
    readonly detail: string,
    { status = null, fields = {}, retryAfter = null, loginTicket = null, cause }: ClientErrorFacts = {},
  ) {
    super(detail, cause === undefined ? undefined : { cause });
    this.status = status;
    this.fields = fields;
    this.retryAfter = retryAfter;
    this.#loginTicket = loginTicket;
  }

  /** The login ticket of `second_factor_required`, with which the login continues, or null for other codes. */
  get loginTicket(): string | null {
    return this.#loginTicket;
  }
}

export function signedOut(): ClientError {
  return new ClientError('signed_out', 'Not signed in.');
}

export function isSignedOut(error: unknown): boolean {
  return error instanceof ClientError && error.code === 'signed_out';
}

/** Returns the `ClientError` that axios has wrapped in its own error. Returns any other error unchanged. */
export function unwrap(error: unknown): unknown {
  const { cause } = (error ?? {}) as { cause?: unknown };
  return cause instanceof ClientError && !(error instanceof ClientError) ? cause : error;
}

/** Returns the status of a `ClientError`, a `Response` or an error of axios, or null if there is none. */
export function statusOf(error: unknown): number | null {
  const { status, response } = (error ?? {}) as { status?: number | null; response?: { status?: number } };
  return status ?? response?.status ?? null;
}
