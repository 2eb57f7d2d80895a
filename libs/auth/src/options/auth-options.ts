import type { DeviceDetector } from '../domain/ports/device-detector';
import type { PasswordHasher } from '../domain/ports/password-hasher';
import type { TokenSource } from '../domain/ports/token-source';
import type { UserEntityMapping, UserStore } from '../domain/ports/user-store';
import type { NameMatching } from '../domain/username';

/** Looks a password up in a list of known ones, say. It must not be stored or logged. */
export type PasswordCheck = (
  password: string,
  user: { readonly username: string },
) => string | null | Promise<string | null>;

/** A class that Nest makes, with whatever it injects, or an object that is there already. */
export type Replaceable<T> = (new (...args: never[]) => T) | T;

/** What a host may set. Every option has a default that is safe as it is; see `DEFAULT_OPTIONS`. */
export interface AuthModuleOptions {
  /** How many sessions a user may have: any number, one (a login ends the others), or at most `maxSessions`. */
  sessionPolicy?: 'multi' | 'single' | 'max_count';
  /** The limit under `max_count`: 1 to 1000. */
  maxSessions?: number;
  /** At the limit a login ends the oldest sessions, or is refused with 403. */
  onSessionLimit?: 'revoke_oldest' | 'reject';
  /** Whether each refresh gives a new refresh token, which is what makes a stolen one noticed. */
  rotateRefreshTokens?: boolean;
  /**
   * 0 to 60. Above 0 the refresh token that was exchanged last, presented again within so many seconds, gets the same pair
   * again: for clients that lose an answer or race themselves. 0: a token that is presented twice is always reuse.
   */
  refreshReuseGraceSeconds?: number;
  /** Whether addresses are stored, answered and told in signals. */
  trackIps?: boolean;
  /** Whether User-Agents are stored and parsed. */
  trackUserAgents?: boolean;
  /** Whether device, system and browser are told from the User-Agent. Needs `ua-parser-js`. */
  trackDevices?: boolean;
  /** 60 to 3600. */
  accessTokenTtlSeconds?: number;
  /** How long a refresh token is good for; each refresh starts anew. At most the absolute timeout. */
  refreshTokenTtlSeconds?: number;
  /** How long a session lasts at the most, whatever is refreshed. */
  absoluteTimeoutSeconds?: number;
  /** How long a session lasts without activity. The refresh TTL by default, at most the absolute timeout. */
  idleTimeoutSeconds?: number;
  /** The last activity is written at most this often; at most a quarter of the idle timeout. */
  activityIntervalSeconds?: number;
  failedLogins?: {
    /** The number of failures in a row at which `brute_force_threshold_hit` is sent. */
    signalAt?: number;
    /** The number of failures in a row from which on attempts are delayed; false for never. */
    throttleFrom?: number | false;
    /** After so long without a failure the count returns to 0. */
    windowSeconds?: number;
  };
  hashing?: {
    /** Password hashes that run at the same time. The number of cores by default. */
    concurrent?: number;
    /** Password hashes that wait; beyond them a login is answered with 503 at once. */
    waiting?: number;
  };
  recentLogin?: {
    /** Whether `POST reauthenticate/` is there, by which a user proves within a session who they are. */
    endpoint?: boolean;
    /** Ending sessions needs a login (or `reauthenticate/`) that is no older; false for any. */
    toEndSessionsSeconds?: number | false;
  };
  passwordPolicy?: {
    /** The fewest characters of a password that is set: 8 to 64. NIST SP 800-63B-4 asks for 15 where nothing else is asked. */
    minLength?: number;
    /** What is wrong with a password that is set, as a sentence for its user; null where nothing is. */
    check?: PasswordCheck | undefined;
  };
  /** How long a token for resetting a password is good for. */
  passwordResetTtlSeconds?: number;
  /** Whether a changed password ends the user's other sessions. */
  revokeOnPasswordChange?: boolean;
  /** Whether a reset password ends all of the user's sessions. */
  revokeOnPasswordReset?: boolean;
  /** 10 to 15; 4 to 9 only where `NODE_ENV` is `test`. */
  bcryptCost?: number;
  history?: {
    /** Events are kept so long. */
    retentionDays?: number;
    /** Events of one user that are kept. */
    maxRowsPerUser?: number;
  };
  /** How often rows that are no longer needed are removed, by each instance; false for `PruningService` alone. */
  pruneIntervalSeconds?: number | false;
  /** How often the sessions of open sockets are looked up, 1 to 3600, while any is open; see `OpenSockets`. */
  socketCheckIntervalSeconds?: number;
  /**
   * Whether the guard's read and what a refresh and a login write are prepared under names (PostgreSQL). Set it to false
   * behind a pooler that hands out another connection for each transaction and does not know of prepared statements, such
   * as PgBouncer before 1.21.
   */
  namedStatements?: boolean;
  /** `exact`: byte by byte. `insensitive`: without regard to case and width (NFKC, lower case). */
  nameMatching?: NameMatching;
  /** Where the users are: an entity of the host's, or a class that extends `UserStore`. `AuthUser` by default. */
  users?: UserEntityMapping | Replaceable<UserStore>;
  /** bcrypt by default. */
  passwordHasher?: Replaceable<PasswordHasher>;
  /** ua-parser-js by default, where it is installed. */
  deviceDetector?: Replaceable<DeviceDetector>;
  /** Where the token of a call stands that is no HTTP request, where its transport has no usual place for it. */
  tokenSource?: Replaceable<TokenSource>;
}

/** What shapes the module itself, and so cannot come out of the factory of `forRootAsync()`. */
export interface AuthModuleExtras {
  /** Where the controllers are mounted, behind the host's global prefix. */
  path?: string;
  /** Whether the controllers are mounted. Without them everything is to be had from `AuthService`. */
  controllers?: boolean;
  /** Whether `BearerAuthGuard` stands before every route of the host; `@Public()` opens one. */
  globalGuard?: boolean;
  /** The name of the DataSource, where it is not the default one. */
  dataSource?: string;
  /** Whether the module's exports are to be had everywhere without an import. */
  isGlobal?: boolean;
}

/** The options in force: complete, checked and frozen. */
export type ResolvedAuthOptions = Readonly<
  Required<
    Omit<
      AuthModuleOptions,
      | 'users'
      | 'passwordHasher'
      | 'deviceDetector'
      | 'tokenSource'
      | 'failedLogins'
      | 'hashing'
      | 'history'
      | 'recentLogin'
      | 'passwordPolicy'
    >
  >
> & {
  readonly failedLogins: Readonly<Required<NonNullable<AuthModuleOptions['failedLogins']>>>;
  readonly hashing: Readonly<Required<NonNullable<AuthModuleOptions['hashing']>>>;
  readonly recentLogin: Readonly<Required<NonNullable<AuthModuleOptions['recentLogin']>>>;
  readonly passwordPolicy: Readonly<Required<NonNullable<AuthModuleOptions['passwordPolicy']>>>;
  readonly history: Readonly<Required<NonNullable<AuthModuleOptions['history']>>>;
  readonly users: AuthModuleOptions['users'];
  readonly passwordHasher: AuthModuleOptions['passwordHasher'];
  readonly deviceDetector: AuthModuleOptions['deviceDetector'];
  readonly tokenSource: AuthModuleOptions['tokenSource'];
};

/** Injects the options in force. */
export const AUTH_OPTIONS = 'NESTJS_SESSION_AUTH_RESOLVED_OPTIONS';
