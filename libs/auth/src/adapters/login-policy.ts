import type { ClientInfo, IdentifiedUser } from './second-factor';

/**
 * The data that your application keeps on a session. Declare its properties by module augmentation. All properties are
 * optional when they are read, because a session may lack any of them.
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- applications add the properties
export interface SessionData {}

/** A change of the data of a session. A key with null is removed. Other keys stay as they are. */
export type SessionDataPatch = { readonly [Key in keyof SessionData]?: SessionData[Key] | null };

/** A login of a user who has proven their identity. */
export interface ProvenLogin {
  /** The object that was passed to `login` or `openSession`, with the application's further properties. */
  readonly client: ClientInfo;
  /** How the user was identified, such as `['pwd', 'otp']` (RFC 8176). Empty if `openSession` received no methods. */
  readonly methods: readonly string[];
  /** Whether the login asked to be remembered. Always false without the option `rememberMe`. */
  readonly rememberMe: boolean;
  /** The realm of the login, or null if realms are not used. */
  readonly realm: string | null;
}

/** The reason for which a login is refused. The response is 403. */
export interface LoginRefusal {
  /** A code of your application, in lower case (a-z, 0-9, _), at most 64 characters, such as `account_suspended`. */
  readonly code: string;
  /** A sentence for the user. */
  readonly detail: string;
}

/** The terms of a new session. What is missing follows the options. */
export interface SessionTerms {
  /**
   * The time without activity after which the session expires, in seconds, at least four times
   * `activityIntervalSeconds`. The maximum is that of the options: of `rememberMe` for a remembered session.
   */
  readonly idleTimeoutSeconds?: number | undefined;
  /** The maximum time from the login to the end of the session, in seconds. The maximum is that of the options. */
  readonly absoluteTimeoutSeconds?: number | undefined;
  /** Whether the cookies of the session outlast the browser. Default: true for remembered sessions, and without `rememberMe`. */
  readonly persistent?: boolean | undefined;
  /**
   * A JSON object that is added to the data of the session, over that of the login ticket and of `openSession`. Null
   * removes a key. The maximum of all data together is 1,024 bytes.
   */
  readonly data?: SessionDataPatch | undefined;
}

/** What a `LoginPolicy` decides: `{ refuse: { code, detail } }`, or terms. */
export type LoginDecision = { readonly refuse: LoginRefusal } | (SessionTerms & { readonly refuse?: undefined });

/** Decides whether, and on which terms, sessions open. Set the option `loginPolicy` to a class that extends this one. */
export abstract class LoginPolicy {
  /**
   * Refuses a login, sets the terms of the session, or returns nothing to accept the options. Called before every session
   * opens, by `login` and `openSession`, after the user has proven their identity, with a second factor if one is
   * required. It can run twice for a login, if the user's credentials change meanwhile. If it throws, returns anything
   * else or takes over 2 seconds, no session opens, and the response is 503.
   */
  abstract decide(
    user: IdentifiedUser,
    login: ProvenLogin,
  ): LoginDecision | null | undefined | Promise<LoginDecision | null | undefined>;
}
