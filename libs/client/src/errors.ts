/** Why a call failed. A refusal with a `code` of the server has that code. */
export type ClientErrorCode =
  | 'signed_out' // Nobody is signed in; nothing was sent.
  | 'foreign_origin' // The credentials are not for the origin of the address; nothing was sent.
  | 'cookie_transport' // There are no tokens: the browser keeps cookies. Nothing was sent.
  | 'offline' // The server cannot be reached: nothing was sent.
  | 'no_answer' // No answer, or an incomplete one: the outcome is unknown.
  | 'invalid_fields' // 400 with `fields`.
  | 'invalid_credentials' // 400 of a login.
  | 'bad_request'
  | 'unauthorized' // 401.
  | 'recent_login_required' // 403: a recent login is required.
  | 'session_limit_reached' // 403: the session limit refuses the login.
  | 'cross_site_request' // 403: the server does not trust the origin of the page.
  | 'forbidden'
  | 'not_found'
  | 'too_many_attempts' // 429, mostly with `retryAfter`.
  | 'unavailable' // 503, mostly with `retryAfter`.
  | 'unexpected_answer'; // Any other answer.

/** The details of a refusal. */
export interface ClientErrorFacts {
  readonly status?: number | null;
  readonly fields?: Readonly<Record<string, readonly string[]>>;
  readonly retryAfter?: number | null;
  readonly cause?: unknown;
}

/** The error of every failed call. Its message contains no token and no password. */
export class ClientError extends Error {
  override readonly name: string = 'ClientError';
  /** The HTTP status, or null without an answer. */
  readonly status: number | null;
  /** The messages of each invalid field, by its name in camelCase. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /** The seconds until the next attempt is allowed, or null if unknown. */
  readonly retryAfter: number | null;

  constructor(
    readonly code: ClientErrorCode,
    /** The message of the server, or of the client itself. */
    readonly detail: string,
    { status = null, fields = {}, retryAfter = null, cause }: ClientErrorFacts = {},
  ) {
    super(detail, cause === undefined ? undefined : { cause });
    this.status = status;
    this.fields = fields;
    this.retryAfter = retryAfter;
  }
}
