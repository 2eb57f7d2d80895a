/** The durable log of what happened to a user's authentication. */
export type AuthEventName =
  | 'login_success'
  | 'login_failure'
  | 'logout'
  | 'token_refresh'
  | 'token_reuse'
  | 'password_change'
  | 'password_reset'
  | 'session_revoked'
  | 'forced_logout';

/** An event about to be written. */
export interface NewAuthEvent {
  readonly event: AuthEventName;
  /** The user's id as text; null for a name that nobody has. */
  readonly userId: string | null;
  readonly ipAddress: string | null;
  readonly userAgent: string;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly at: number;
}

/** An event of the user's history. */
export interface AuthEventEntry {
  readonly id: number;
  readonly event: AuthEventName;
  readonly ipAddress: string | null;
  readonly userAgent: string;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly timestamp: Date;
}
