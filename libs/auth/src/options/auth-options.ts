import type { AccountBlock } from '../domain/failure-streak';
import type { DeviceDetector, PasswordHasher, TokenSource } from '../domain/ports/platform';
import type { SecondFactor } from '../domain/ports/login-tickets';
import type { UserEntityMapping, UserStore } from '../domain/ports/accounts';
import type { NameMatching } from '../domain/username';

/**
 * Checks a new password, for example against a list of breached ones. Returns what is wrong with it
 * as a sentence for its user, or null. It must not store or log the password.
 */
export type PasswordCheck = (
  password: string,
  user: { readonly username: string },
) => string | null | Promise<string | null>;

/** Which requests are answered with cookies; see `AuthModuleOptions.cookies`. */
export type CookieMode = 'optional' | 'only';

/** A class, which Nest instantiates with its dependencies injected, or an instance. */
export type Replaceable<T> = (new (...args: never[]) => T) | T;

/**
 * The options of `AuthModule.forRoot()`, and what the factory of `forRootAsync()` returns. All are
 * optional, and the defaults, exported as `DEFAULT_OPTIONS`, are safe. A wrong value or an unknown
 * option is an `AuthOptionsError` at startup that reports every problem.
 */
export interface AuthModuleOptions {
  /**
   * The number of sessions a user may have: `multi` for any number, `single` for one (a login ends
   * the others), `max_count` for at most `maxSessions`. Default: 'multi'.
   */
  sessionPolicy?: 'multi' | 'single' | 'max_count';
  /** The limit under `sessionPolicy: 'max_count'`, in sessions, 1 to 1000. Default: 5. */
  maxSessions?: number;
  /**
   * What a login at the limit does: `revoke_oldest` ends the sessions created first, `reject`
   * refuses the login with 403. Default: 'revoke_oldest'.
   */
  onSessionLimit?: 'revoke_oldest' | 'reject';
  /** Whether a refresh issues a new refresh token; without, no reuse is detected. Default: true. */
  rotateRefreshTokens?: boolean;
  /**
   * The grace period after a refresh, in seconds, 0 to 60. Within it, the refresh token that was
   * exchanged last gets the same pair again, for clients that lose a response or refresh in
   * parallel. With 0, a refresh token that is presented twice is always reuse. A value applies to
   * bearer tokens and cookies, and one above 0 needs `rotateRefreshTokens`. Without rotation the
   * default is 0 for both. Default: 0, and 10 for cookies.
   */
  refreshReuseGraceSeconds?: number | undefined;
  /** Whether IP addresses are stored, returned and included in signals. Default: true. */
  trackIps?: boolean;
  /** Whether User-Agent headers are stored and parsed. Default: true. */
  trackUserAgents?: boolean;
  /**
   * Whether device, operating system and browser are detected from the User-Agent. Needs
   * `ua-parser-js` or a `deviceDetector`. Default: true.
   */
  trackDevices?: boolean;
  /** The lifetime of an access token, in seconds, 60 to 3600. Default: 900. */
  accessTokenTtlSeconds?: number;
  /**
   * The lifetime of a refresh token, in seconds, 1 second to 100 years. Each refresh restarts it.
   * Default: 604800, lowered to `absoluteTimeoutSeconds`, which is the most.
   */
  refreshTokenTtlSeconds?: number;
  /** The lifetime of a session, in seconds, 1 second to 100 years. Default: 2592000. */
  absoluteTimeoutSeconds?: number;
  /**
   * The time without activity after which a session expires, in seconds, 1 second to 100 years, at
   * most `absoluteTimeoutSeconds`. Default: 604800, or `refreshTokenTtlSeconds` where that is set.
   */
  idleTimeoutSeconds?: number;
  /**
   * The shortest time between two writes of a session's last activity, in seconds, 0 seconds to 100
   * years and at most a quarter of `idleTimeoutSeconds`. Default: 60, lowered to that quarter.
   */
  activityIntervalSeconds?: number;
  /**
   * Tokens in cookies, which scripts of a page cannot read, for front ends on the same site as the
   * API. Without this option cookies are neither read nor set.
   */
  cookies?: {
    /**
     * Who gets cookies: `optional` requests with the header `X-Auth-Transport: cookie`, and those
     * authenticated by a cookie; `only` every request; `false` none. Default: false.
     */
    mode: CookieMode | false;
    /**
     * The name of the cookies, before `_access` and `_refresh`; a token of RFC 6265 without the prefix
     * `__Host-`, which is added where `secure` is true. Default: 'auth'.
     */
    name?: string;
    /**
     * The origins of front ends on other hosts of the same site, such as `https://app.example.com`.
     * They are compared exactly. Their requests may use and set the cookies. Default: [].
     */
    trustedOrigins?: readonly string[];
    /**
     * Whether cookies need https. With `false` they are read and set only where the host is
     * `localhost`, `*.localhost`, `127.0.0.0/8` or `[::1]`, for development. Default: true.
     */
    secure?: boolean;
  };
  /** Counting and delaying failed logins. */
  failedLogins?: {
    /** The failure streak at which `brute_force_threshold_hit` is emitted, at least 1. Default: 5. */
    signalAt?: number;
    /** The failure streak from which attempts are delayed, at least 1; `false`: never. Default: 10. */
    throttleFrom?: number | false;
    /** How long a streak is remembered, in seconds, 1 second to 100 years. Default: 300. */
    windowSeconds?: number;
    /**
     * What 100 failures in a row for one user, from anywhere, block: `unfamiliar` refuses its logins
     * from networks without a session on record of the user, for 24 hours; `strict` refuses them
     * from every network, until a password reset or `resetFailedLogins` (NIST SP 800-63B-4, 3.2.2);
     * `false` blocks nothing. Without `throttleFrom` there is no block, and writing one is an error.
     * Default: 'unfamiliar'.
     */
    accountBlock?: AccountBlock | false;
  };
  /** The capacity for hashing passwords, of each instance. */
  hashing?: {
    /** How many password hashes run at the same time, 1 to 1024. Default: the number of cores. */
    concurrent?: number;
    /**
     * How many logins and hashes may be queued, half of them from one network, or from none that is
     * known, 0 to 1000000; beyond it a request gets 503. Default: 64.
     */
    waiting?: number;
  };
  /** Confirming the password within a session. */
  recentLogin?: {
    /** Whether `POST reauthenticate/` is mounted. Default: false. */
    endpoint?: boolean;
    /**
     * The age of a login or reauthentication up to which it allows ending sessions, in seconds, 1
     * second to 100 years, or `false` for any age. Default: false.
     */
    toEndSessionsSeconds?: number | false;
  };
  /** What a new password must be. */
  passwordPolicy?: {
    /**
     * The minimum length of a new password, in characters, 8 to 64. NIST SP 800-63B-4 requires 15
     * where the password is the only factor. Default: 15.
     */
    minLength?: number;
    /**
     * Whether predictable passwords are accepted: common ones, repeated blocks, runs of characters or
     * keys, and those that contain the name. NIST SP 800-63B-4 requires a blocklist: with `true`, it
     * is yours, in `check`. Default: false.
     */
    allowPredictable?: boolean;
    /** A further check of a new password. Returns what is wrong with it, or null. Default: none. */
    check?: PasswordCheck | undefined;
  };
  /** The lifetime of a password reset token, in seconds, 60 to 604800. Default: 3600. */
  passwordResetTtlSeconds?: number;
  /** Whether a password change ends the user's other sessions. Default: true. */
  revokeOnPasswordChange?: boolean;
  /** Whether a password reset ends all of the user's sessions. Default: true. */
  revokeOnPasswordReset?: boolean;
  /** The work factor of bcrypt, 10 to 15; 4 to 9 only where `NODE_ENV` is `test`. Default: 12. */
  bcryptCost?: number;
  /** What pruning keeps of the event log. */
  history?: {
    /** The age at which events are pruned, in days, 1 to 36500. Default: 90. */
    retentionDays?: number;
    /**
     * The number of events kept for each user, 1 to 10000000. Beyond it refreshes are removed first,
     * then failed logins and requests for a password reset: by pruning, and as soon as an instance has
     * written as many events of one user, or 1,000 if that is less. Default: 1000.
     */
    maxRowsPerUser?: number;
  };
  /**
   * The time between two prunings by each instance, in seconds, 60 to 604800, or `false` to prune
   * only when `PruningService` is called. Default: 3600.
   */
  pruneIntervalSeconds?: number | false;
  /**
   * The time between two checks of the sessions of open sockets by each instance, in seconds, 1 to
   * 3600. See `OpenSockets`. Default: 30.
   */
  socketCheckIntervalSeconds?: number;
  /**
   * Whether frequent statements are prepared under names (PostgreSQL). Set it to `false` behind a
   * pooler that assigns connections per transaction and does not support prepared statements, such
   * as PgBouncer before 1.21. Default: true.
   */
  namedStatements?: boolean;
  /**
   * How names are compared: `exact` byte by byte, `insensitive` without regard to case and width
   * (NFKC, lower case; see `foldName`). A mapped entity then needs `users.foldedUsername`. Choose it
   * before there are users: it decides which names are the same. Default: 'exact'.
   */
  nameMatching?: NameMatching;
  /**
   * Where the users are stored: a mapped entity of the application, or a class that extends
   * `UserStore`, or an instance of one. Default: `AuthUser`.
   */
  users?: UserEntityMapping | Replaceable<UserStore>;
  /** How passwords are hashed: a class that extends `PasswordHasher`, or an instance. Default: bcrypt. */
  passwordHasher?: Replaceable<PasswordHasher>;
  /** A class that extends `DeviceDetector`, or an instance. Default: ua-parser-js, where it is installed. */
  deviceDetector?: Replaceable<DeviceDetector>;
  /**
   * Which users need a second factor: a class that extends `SecondFactor`, or an instance. A login of
   * such a user opens no session: it is 403 with a login ticket. Default: none.
   */
  secondFactor?: Replaceable<SecondFactor>;
  /**
   * How the token of a call is found that comes neither over HTTP nor in the usual place of its
   * transport: a class that extends `TokenSource`, or an instance. Default: none.
   */
  tokenSource?: Replaceable<TokenSource>;
}

/** The options that shape the module. With `forRootAsync()` they are written beside the factory. */
export interface AuthModuleExtras {
  /** The path of the controllers, behind the application's global prefix. Default: 'auth'. */
  path?: string;
  /** Whether controllers are mounted. `AuthService` has the same functions. Default: true. */
  controllers?: boolean;
  /** Whether `BearerAuthGuard` guards every route without `@Public()`. Default: false. */
  globalGuard?: boolean;
  /** The name of the DataSource. Default: 'default'. */
  dataSource?: string;
  /** Whether the exports can be injected without importing the module. Default: true. */
  isGlobal?: boolean;
}

/** The options that are objects of options. */
export type GroupName = 'cookies' | 'failedLogins' | 'hashing' | 'recentLogin' | 'passwordPolicy' | 'history';
type ReplaceableName = 'users' | 'passwordHasher' | 'deviceDetector' | 'secondFactor' | 'tokenSource';

/** Options whose default depends on more than other options: undefined where nothing is written. */
type OpenName = 'refreshReuseGraceSeconds';

/** The options in force: complete, valid and frozen. */
export type ResolvedAuthOptions = Readonly<
  Required<Omit<AuthModuleOptions, GroupName | ReplaceableName | OpenName>>
> & {
  readonly [Group in GroupName]: Readonly<Required<NonNullable<AuthModuleOptions[Group]>>>;
} & { readonly [Name in ReplaceableName | OpenName]: AuthModuleOptions[Name] };

/** Injects the options in force. */
export const AUTH_OPTIONS = 'NESTJS_SESSION_AUTH_RESOLVED_OPTIONS';
