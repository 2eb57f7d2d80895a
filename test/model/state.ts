/** What the model knows. Instants are milliseconds since 1970; tokens are known by the text that the library gave out. */
export interface Pair {
  readonly accessToken: string;
  readonly refreshToken: string;
}

export interface ModelUser {
  readonly id: string;
  readonly name: string;
  active: boolean;
  password: string;
  /** Failed logins in a row: how many, when they are forgotten, and until when there is no attempt. */
  failures: { readonly count: number; readonly until: number; readonly delayedUntil: number } | null;
}

export interface RetiredToken {
  readonly token: string;
  readonly generation: number;
  readonly state: 'used' | 'revoked';
  readonly at: number;
  /** Gone from the database. */
  isPruned: boolean;
}

export interface ModelSession {
  readonly id: string;
  readonly user: ModelUser;
  state: 'active' | 'logged_out' | 'revoked' | 'expired';
  reason: string | null;
  readonly createdAt: number;
  lastActivity: number;
  idleEnd: number;
  readonly absoluteEnd: number;
  pair: Pair;
  accessEnd: number;
  refreshEnd: number;
  generation: number;
  /** Refresh tokens before the live one, oldest first. */
  readonly retired: RetiredToken[];
  /** Every access token it ever had. */
  readonly accessTokens: string[];
  /** Until when the direct predecessor gets the live pair again; null where it does not. */
  answerUntil: number | null;
  /** Gone from the database. */
  isPruned: boolean;
}

export interface ModelEvent {
  readonly user: ModelUser;
  readonly name: string;
  readonly at: number;
  readonly extra: Readonly<Record<string, unknown>>;
}

/** Why a session ends, with the state it ends in and the event that tells of it. (Reference, sections 3 and 4) */
export const ENDS = {
  logout: { state: 'logged_out', event: 'logout' },
  logout_all: { state: 'revoked', event: 'session_revoked' },
  user: { state: 'revoked', event: 'session_revoked' },
  admin: { state: 'revoked', event: 'session_revoked' },
  session_policy: { state: 'revoked', event: 'forced_logout' },
  password_change: { state: 'revoked', event: 'forced_logout' },
  password_reset: { state: 'revoked', event: 'forced_logout' },
  user_disabled: { state: 'revoked', event: 'forced_logout' },
  token_reuse: { state: 'revoked', event: null },
  expired: { state: 'expired', event: null },
} as const;

export type EndReason = keyof typeof ENDS;

/** What the reference leaves open is taken over from what is stored: nothing else is ever asked of it. */
export interface Stored {
  readonly states: ReadonlyMap<string, string>;
  /** Keys of the rows of the log: see `eventKey`. */
  readonly events: readonly string[];
}

/** A row of the log as text, to be compared. */
export function eventKey(
  user: string | null,
  name: string,
  at: number,
  extra: Readonly<Record<string, unknown>>,
): string {
  const told = Object.keys(extra)
    .sort()
    .map((key) => `${key}=${String(extra[key])}`);
  return [at, user ?? 'nobody', name, ...told].join(' ');
}
