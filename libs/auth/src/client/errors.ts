/** Why something was not done. What the server refuses with a `code` of its own has that one. */
export type ClientErrorCode =
  /** Nobody is signed in; nothing was sent. */
  | 'signed_out'
  /** The address is on an origin that the token is not for; nothing was sent. */
  | 'foreign_origin'
  /** The browser is offline, or no connection came about: nothing reached the server. */
  | 'offline'
  /** No answer, or not all of it: whether the server has done it is not known. */
  | 'no_answer'
  /** 400 with `fields`. */
  | 'invalid_fields'
  /** 400 of a login. */
  | 'invalid_credentials'
  | 'bad_request'
  /** 401. */
  | 'unauthorized'
  /** 403: a recent login is asked for. */
  | 'recent_login_required'
  /** 403: the session limit refuses the login. */
  | 'session_limit_reached'
  | 'forbidden'
  | 'not_found'
  /** 429, mostly with `retryAfter`. */
  | 'too_many_attempts'
  /** 503, mostly with `retryAfter`. */
  | 'unavailable'
  /** Any other answer. */
  | 'unexpected_answer';

/** What came with a refusal. */
export interface ClientErrorFacts {
  readonly status?: number | null;
  readonly fields?: Readonly<Record<string, readonly string[]>>;
  readonly retryAfter?: number | null;
  readonly cause?: unknown;
}

/** All that the client rejects with. Its text holds no token and no password. */
export class ClientError extends Error {
  override readonly name: string = 'ClientError';
  /** Of the answer, or null where there was none. */
  readonly status: number | null;
  /** Field of the call, in camelCase -> what is wrong with it. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /** Seconds after which it may be tried again, or null where that is not known. */
  readonly retryAfter: number | null;

  constructor(
    readonly code: ClientErrorCode,
    /** What the server says of it, or the client itself. */
    readonly detail: string,
    { status = null, fields = {}, retryAfter = null, cause }: ClientErrorFacts = {},
  ) {
    super(detail, cause === undefined ? undefined : { cause });
    this.status = status;
    this.fields = fields;
    this.retryAfter = retryAfter;
  }
}
