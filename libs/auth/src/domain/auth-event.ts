/** The names of the events in `auth_events`. */
export const AUTH_EVENT_NAMES = [
  'login_success',
  'first_factor_success',
  'login_failure',
  'login_blocked',
  'logout',
  'token_refresh',
  'token_reuse',
  'password_change',
  'password_reset',
  'password_reset_requested',
  'reauthentication',
  'session_revoked',
  'forced_logout',
] as const;

/** The name of an event in `auth_events`. */
export type AuthEventName = (typeof AUTH_EVENT_NAMES)[number];

/** An event to write to `auth_events`. */
export interface NewAuthEvent {
  readonly event: AuthEventName;
  /** The user's id as text, or null for an unknown username. */
  readonly userId: string | null;
  readonly ipAddress: string | null;
  readonly userAgent: string;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly at: number;
}

/** An event in the history of a user. */
export interface AuthEventEntry {
  readonly id: number;
  readonly event: AuthEventName;
  readonly ipAddress: string | null;
  readonly userAgent: string;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly timestamp: Date;
}
