import type { DeviceDetector } from '../adapters/device-detector';
import type { FormerTokens } from '../adapters/former-tokens';
import type { ImpersonationPolicy } from '../adapters/impersonation-policy';
import type { LoginPolicy } from '../adapters/login-policy';
import type { PasswordHasher } from '../adapters/password-hasher';
import type { RealmResolver } from '../adapters/realm';
import type { SecondFactor } from '../adapters/second-factor';
import type { TokenSource } from '../adapters/token-source';
import type { UserEntityMapping, UserStore } from '../adapters/user-store';
import type { NameMatching } from '../base/fields';

/** See `AuthModuleOptions.failedLogins`. */
export type AccountBlock = 'unfamiliar' | 'strict';

/** Returns null to accept a new password, or a sentence for the user that says what is wrong. */
export type PasswordCheck = (
  password: string,
  user: { readonly username: string },
) => string | null | Promise<string | null>;

/** A class, which Nest instantiates with its dependencies injected, or an instance. */
export type Replaceable<T> = (new (...args: never[]) => T) | T;

/** The options of `AuthModule.forRoot()`, and the result of the factory of `forRootAsync()`. */
export interface AuthModuleOptions {
  /**
   * How many sessions a user may have. `multi`: 1,000, after which a login ends the least recently used one. `single`:
   * one, so a login ends the user's other sessions. `max_count`: `maxSessions`. Default: 'multi'.
   */
  sessionPolicy?: 'multi' | 'single' | 'max_count';
  /** The maximum number of sessions of a user with `sessionPolicy: 'max_count'`, 1 to 1000. Default: 5. */
  maxSessions?: number;
  /** Whether a login at the limit of `max_count` ends the oldest sessions or fails with 403. Default: 'revoke_oldest'. */
  onSessionLimit?: 'revoke_oldest' | 'reject';
  /** Whether a refresh issues a new refresh token. With `false`, reuse is not detected. Default: true. */
  rotateRefreshTokens?: boolean;
  /**
   * The grace period after a refresh, in seconds, 0 to 60. Within it, the most recently used refresh token returns the
   * same pair again, for clients that lose a response or refresh in parallel. Reuse of this token from the client's
   * network is then not detected, and from other networks only after the new access token has been used. A value above
   * 0 requires `rotateRefreshTokens`. Default: 0, and 10 for cookies with rotation.
   */
  refreshReuseGraceSeconds?: number | undefined;
  /**
   * Whether the library stores IP addresses, returns them, and includes them in signals. `truncated`: only the first
   * address of the /24 (IPv4) or /48 (IPv6). Default: true.
   */
  trackIps?: boolean | 'truncated';
  /** Whether the library stores and parses User-Agent headers. Default: true. */
  trackUserAgents?: boolean;
  /** Whether to detect devices, which needs `trackUserAgents`, and `ua-parser-js` or `deviceDetector`. Default: true. */
  trackDevices?: boolean;
  /**
   * The lifetime of an access token, in seconds, 60 seconds to 100 years; from 5 seconds if `NODE_ENV` is not
   * `production`. The maximum is `absoluteTimeoutSeconds`. A long one serves clients that cannot refresh: a revocation
   * still takes effect at the next request, and `idleTimeoutSeconds` still ends unused sessions. Default: 900, lowered
   * to `absoluteTimeoutSeconds` if that is less.
   */
  accessTokenTtlSeconds?: number;
  /**
   * The lifetime of a refresh token, in seconds, 1 second to 100 years. Each refresh restarts it. The maximum is
   * `absoluteTimeoutSeconds`. Default: 604800, lowered to `absoluteTimeoutSeconds` if that is less.
   */
  refreshTokenTtlSeconds?: number;
  /** The maximum time from the login to the end of a session, in seconds, 1 second to 100 years. Default: 2592000. */
  absoluteTimeoutSeconds?: number;
  /**
   * The time without activity after which a session expires, in seconds, 1 second to 100 years. The maximum is
   * `absoluteTimeoutSeconds`. Default: 604800, or `refreshTokenTtlSeconds` if that is set, lowered to the maximum.
   */
  idleTimeoutSeconds?: number;
  /**
   * The minimum time between two writes of a session's last activity by guarded requests, in seconds, 0 seconds to 100
   * years. The maximum is a quarter of `idleTimeoutSeconds`. Default: 60, lowered to the maximum.
   */
  activityIntervalSeconds?: number;
  /**
   * The lifetimes of sessions whose logins ask to be remembered, with `remember_me: true`. Set both or none. The cookies of
   * all other sessions then end with the browser, without `Max-Age`. See docs/session-terms.md.
   */
  rememberMe?: {
    /**
     * The time without activity after which a remembered session expires, in seconds, 1 second to 100 years, and the
     * lifetime of its refresh tokens. The maximum is `rememberMe.absoluteTimeoutSeconds`, the minimum four times
     * `activityIntervalSeconds`. With `false`, no session is remembered. Default: false.
     */
    idleTimeoutSeconds: number | false;
    /**
     * The maximum time from the login to the end of a remembered session, in seconds, 1 second to 100 years. With
     * `false`, no session is remembered. Default: false.
     */
    absoluteTimeoutSeconds: number | false;
  };
  /** Tokens in `HttpOnly` cookies, for front ends on the same site as the API. */
  cookies?: {
    /**
     * Which requests get cookies. `optional`: those with the header `X-Auth-Transport: cookie`, and those that are
     * authenticated by a cookie. `only`: every request. `false`: none. Required in `cookies`. Default: false.
     */
    mode: 'optional' | 'only' | false;
    /** The name of the cookies (RFC 6265), without `__Host-`, `_access` and `_refresh`. Default: 'auth'. */
    name?: string;
    /**
     * The other origins that may use and set the cookies: front ends on other hosts of the same site, such as
     * `https://app.example.com`, and extensions, as `chrome-extension://` and their id. Default: [].
     */
    trustedOrigins?: readonly string[];
    /**
     * Whether cookies require HTTPS. With `false`, for development, they work only on `localhost`, `*.localhost`,
     * `127.0.0.0/8` and `[::1]`. Default: true.
     */
    secure?: boolean;
  };
  /** How the library counts and delays failed logins. */
  failedLogins?: {
    /**
     * The number of consecutive failures for one username from one network, or within one session, at which
     * `brute_force_threshold_hit` is emitted, at least 1. Default: 5.
     */
    signalAt?: number;
    /**
     * The number of consecutive failures from which each failure starts a delay, at least 1. The first delay is 30 s,
     * and each delay is twice the previous one, up to 1 h. `false` disables delays and the account block. Default: 10.
     */
    throttleFrom?: number | false;
    /**
     * The time without a failure after which the failure streak of a network ends, in seconds, 1 second to 100 years,
     * or twice the current delay if that is longer. Default: 300.
     */
    windowSeconds?: number;
    /**
     * What happens after 100 consecutive failures for one user across all networks. `unfamiliar` refuses password
     * logins for up to 24 hours, except from networks where a stored session was opened or an active session was last
     * refreshed. `strict` refuses all password logins until a password reset or `resetFailedLogins` (NIST SP 800-63B-4,
     * 3.2.2). `false` refuses none. With `throttleFrom: false`, only `false` can be set. Default: 'unfamiliar'.
     */
    accountBlock?: AccountBlock | false;
  };
  /** The capacity of each instance for hashing passwords. */
  hashing?: {
    /** The maximum number of parallel password hashes per instance, 1 to 1024. Default: `os.availableParallelism()`. */
    concurrent?: number;
    /**
     * How many logins and password hashes may wait, 1 to 1000000. Further ones fail with 503. One network, or all
     * clients without an address together, can use at most half of `concurrent` + `waiting`. Default: 64.
     */
    waiting?: number;
  };
  /** How users confirm their identity within a session. */
  recentLogin?: {
    /**
     * The time within which `logout/all/` and `DELETE sessions/<id>/` require a recent login, in seconds, 1 second to
     * 100 years. Without one, the response is 403. Default: false.
     */
    toEndSessionsSeconds?: number | false;
  };
  /** The requirements for new passwords. */
  passwordPolicy?: {
    /**
     * The minimum length of a new password, in characters, 8 to 64. NIST SP 800-63B-4 requires 15 if the password is
     * the only factor. Default: 15.
     */
    minLength?: number;
    /**
     * Whether to accept common passwords, repeated blocks, runs of characters or adjacent keys, and passwords with a
     * username of 4 or more characters. NIST SP 800-63B-4 requires a blocklist, for example in `check`. Default: false.
     */
    allowPredictable?: boolean;
    /** An additional check of new passwords, such as a lookup in a list of breached passwords. Default: none. */
    check?: PasswordCheck | undefined;
  };
  /** The lifetime of a password reset token, in seconds, 60 to 604800. Default: 3600. */
  passwordResetTtlSeconds?: number;
  /** Whether a password change ends the user's other sessions. Default: true. */
  revokeOnPasswordChange?: boolean;
  /** Whether a password change also revokes the user's API keys. A password reset always does. Default: false. */
  revokeApiKeysOnPasswordChange?: boolean;
  /** Whether a password reset ends all of the user's sessions. Default: true. */
  revokeOnPasswordReset?: boolean;
  /** The cost factor of bcrypt, 10 to 15; 4 to 9 only if `NODE_ENV` is `test`. Default: 12. */
  bcryptCost?: number;
  /** How long events and ended sessions are kept, and how many events per user. */
  history?: {
    /** The age at which events and ended sessions are pruned, in days, 1 to 36500. Default: 90. */
    retentionDays?: number;
    /**
     * The maximum number of events per user after pruning, 1 to 10000000, which removes refreshes first. See
     * docs/data-retention.md. Default: 1000.
     */
    maxRowsPerUser?: number;
  };
  /**
   * The time between two pruning runs of each instance, in seconds, 60 to 604800. Each instance also prunes after 100,000
   * events that it has written. With `false`, call `PruningService.prune()` yourself. Default: 3600.
   */
  pruneIntervalSeconds?: number | false;
  /** How often each instance checks the sessions of its `OpenSockets`, in seconds, 1 to 3600. Default: 30. */
  socketCheckIntervalSeconds?: number;
  /**
   * The maximum number of connections that each instance opens on PostgreSQL, MySQL and MariaDB, 2 to 1000. One is
   * reserved for the reads of guarded requests. The library uses the pool of the DataSource only in `inTransaction`,
   * and to create and load your entities. Default: 5.
   */
  connections?: number;
  /**
   * Whether frequent statements are prepared (on PostgreSQL: named). Set it to `false` for a pooler in transaction mode
   * that does not support prepared statements, such as PgBouncer before 1.21. Default: true.
   */
  namedStatements?: boolean;
  /**
   * How usernames are compared. `exact`: byte by byte. `insensitive`: by their folded form, as `foldName` returns it
   * (NFKC and lower case), for which a mapped entity needs `users.foldedUsername`. Choose the value before you create
   * the first user, because it decides which usernames are the same. Default: 'exact'.
   */
  nameMatching?: NameMatching;
  /** Where users are stored: an entity mapping or a `UserStore`. Default: `AuthUser`, the library's own entity. */
  users?: UserEntityMapping | Replaceable<UserStore>;
  /** How passwords are hashed. `bcryptCost` then has no effect. Default: bcrypt. */
  passwordHasher?: Replaceable<PasswordHasher>;
  /** How devices are detected. If it fails, the device is `Other`. Default: ua-parser-js, if it is installed. */
  deviceDetector?: Replaceable<DeviceDetector>;
  /** Which users need a second factor. Their login by password fails with 403 and a login ticket. Default: none. */
  secondFactor?: Replaceable<SecondFactor>;
  /** Refuses logins with a reason, or sets the terms of the new session: lifetimes, cookies and data. Default: none. */
  loginPolicy?: Replaceable<LoginPolicy>;
  /** Which administrators may act as which users, by `SessionAdministration.impersonate`. Default: none. */
  impersonationPolicy?: Replaceable<ImpersonationPolicy>;
  /** Reads access tokens from other places, for your routes and the library's. Default: none. */
  tokenSource?: Replaceable<TokenSource>;
  /** Accepts tokens of an earlier system, such as JWTs, on your routes. Default: none. */
  formerTokens?: Replaceable<FormerTokens>;
  /**
   * Determines the realm (tenant) of each call. Names are then unique within a realm, and credentials of another realm are
   * invalid. Your users need a realm: `users.realm` or a `UserStore`. See docs/realms.md. Default: none.
   */
  realm?: Replaceable<RealmResolver>;
}

/** The options that contain a group of options. */
export type GroupName =
  'cookies' | 'failedLogins' | 'hashing' | 'recentLogin' | 'rememberMe' | 'passwordPolicy' | 'history';

/** The options that are a class of the application, except for `users`. */
export type ReplaceableName =
  | ('passwordHasher' | 'deviceDetector' | 'secondFactor' | 'loginPolicy' | 'impersonationPolicy')
  | ('tokenSource' | 'formerTokens' | 'realm');

/** The options that are undefined unless the application sets them. */
type OptionalName = ReplaceableName | 'users' | 'refreshReuseGraceSeconds';

/** The checked options with all defaults, frozen. */
export type ResolvedAuthOptions = Readonly<Required<Omit<AuthModuleOptions, GroupName | OptionalName>>> & {
  readonly [Group in GroupName]: Readonly<Required<NonNullable<AuthModuleOptions[Group]>>>;
} & { readonly [Name in OptionalName]: AuthModuleOptions[Name] };

/** The injection token of the `ResolvedAuthOptions`. */
export const AUTH_OPTIONS = 'NESTJS_SESSION_AUTH_RESOLVED_OPTIONS';

/** Options of `forRoot()` that Nest needs before it calls the factory of `forRootAsync()`. Pass them next to it. */
export interface AuthModuleExtras {
  /** The path of the controllers, after the global prefix of the application. Default: 'auth'. */
  path?: string;
  /** Whether the library mounts its controllers. Without them, use `AuthService`. Default: true. */
  controllers?: boolean;
  /**
   * Which of the library's routes are mounted. Switch off those that your application serves itself: a route of yours
   * with the same method and path as one of them is an error at startup.
   */
  endpoints?: {
    /** Whether `POST login/` is mounted. Default: true. */
    login?: boolean;
    /** Whether `POST token/refresh/` is mounted. Default: true. */
    refresh?: boolean;
    /** Whether `POST logout/` is mounted. Default: true. */
    logout?: boolean;
    /** Whether `POST logout/all/` is mounted. Default: true. */
    logoutAll?: boolean;
    /** Whether `GET sessions/` and `DELETE sessions/<id>/` are mounted. Default: true. */
    sessions?: boolean;
    /** Whether `GET history/` is mounted. Default: true. */
    history?: boolean;
    /** Whether `POST password/change/` is mounted, if the user store can set passwords. Default: true. */
    passwordChange?: boolean;
    /** Whether `POST reauthenticate/` is mounted. Default: false. */
    reauthenticate?: boolean;
  };
  /** Whether `BearerAuthGuard` is a global guard. Default: false. */
  globalGuard?: boolean;
  /** The name of the DataSource that the library uses. Default: 'default'. */
  dataSource?: string;
  /** Whether all modules can inject the exported providers, as with `global: true` of Nest. Default: true. */
  isGlobal?: boolean;
}

/** The checked extras with all defaults. */
export type ResolvedAuthExtras = Required<Omit<AuthModuleExtras, 'endpoints'>> & {
  readonly endpoints: Readonly<Required<NonNullable<AuthModuleExtras['endpoints']>>>;
};
