import { AuthorizedFetch } from './authorized-fetch.js';
import { ClientError, isSignedOut } from './errors.js';
import { EventHub, SESSION_ENDS, type ClientEventName, type ClientEvents, type SessionEnd } from './events.js';
import { resolveOptions, type AuthClientOptions, type Settings } from './options.js';
import { Refresher } from './refresher.js';
import { json, readAnswer, rethrow, sendIfReachable, sendInTime } from './requests.js';
import { TokenKeeper } from './token-keeper.js';
import { hasSession, NO_SESSION } from './token-storage.js';
import {
  readHistory,
  readRevoked,
  readSessions,
  text,
  type HistoryEntry,
  type Session,
  type TokenPair,
} from './wire.js';

/**
 * A client for `nestjs-session-auth`. Use `fetch` for your own routes behind `BearerAuthGuard`.
 *
 * Refreshes the tokens automatically. Clients that share a lock refresh one at a time. Outside the configured grace
 * period, the client does not resend a refresh token that may have been used, because this could count as reuse. A
 * method that fails rejects with a `ClientError` (each method lists only its main codes), or with an error of the
 * storage or lock. `fetch` can also reject with a network error or abort reason. Invalid options throw a `TypeError`.
 */
export class AuthClient {
  readonly #settings: Settings;
  readonly #hub = new EventHub();
  readonly #keeper: TokenKeeper;
  readonly #authorized: AuthorizedFetch;

  constructor(options: AuthClientOptions = {}) {
    this.#settings = resolveOptions(options);
    this.#keeper = new TokenKeeper(this.#settings, this.#hub);
    const refresher = new Refresher(this.#settings, this.#keeper);
    // Within the grace period, the server can return the same pair that the other tab has received.
    this.#keeper.onSuperseded = (tokens) => void refresher.refresh(tokens, 'expiring').catch(() => undefined);
    this.#authorized = new AuthorizedFetch(this.#settings, this.#keeper, refresher);
  }

  /**
   * Signs in. The new tokens replace the tokens of an earlier login.
   * @param options `rememberMe`: whether to keep the user signed in, if the server has the option `rememberMe`. Default: false
   * @throws ClientError `invalid_credentials`, `invalid_fields`, `session_limit_reached`, `too_many_attempts`,
   *   `unavailable`, `cookies_blocked`, `second_factor_required` (the error has a `loginTicket`)
   */
  async login(
    username: string,
    password: string,
    options?: { readonly rememberMe?: boolean },
  ): Promise<{ readonly sessionId: string }> {
    const { authUrl, lock, transport } = this.#settings;
    const request = new Request(
      authUrl('login'),
      json('POST', { username, password, remember_me: options?.rememberMe }),
    );
    // Holds the lock, because a concurrent refresh could replace the cookies of the login.
    return lock.run(async () => {
      const sentAt = this.#settings.now();
      const answer = await sendIfReachable(this.#settings, transport.sign(request, null), readAnswer);
      const sessionId = text(answer, 'session_id');
      const pair = transport.readPair(answer);
      await this.#keeper.open(
        sessionId,
        pair,
        sentAt,
        transport.usesCookies ? () => this.#requireCookies() : undefined,
      );
      return { sessionId };
    });
  }

  /**
   * The id of the session that this tab shows, or null if the client knows none. After a login in another tab, the id
   * changes when `sessionChanged` is emitted.
   */
  get sessionId(): string | null {
    return this.#keeper.sessionId;
  }

  /**
   * Stores the tokens of a session that your application has opened itself, for example after single sign-on, or new
   * tokens of the current session, for example after `confirmIdentity`. Replaces the stored tokens.
   * @throws ClientError `cookie_transport`; `unexpected_answer` if a token or the session id is missing
   */
  async adopt(opened: TokenPair & { readonly sessionId: string }): Promise<void> {
    this.#refuseCookies('Use `AuthCookies.set` on the server.');
    const pair = { accessToken: text(opened, 'accessToken'), refreshToken: text(opened, 'refreshToken') };
    const sessionId = text(opened, 'sessionId');
    await this.#settings.lock.run(() => this.#keeper.open(sessionId, pair, this.#settings.now()));
  }

  /**
   * Returns whether this client has a session. If the server has ended it, only a later request reports the end.
   * With cookies and no stored session, this method asks the server, because your application may have opened a session
   * itself.
   * @throws ClientError if the request to the server fails
   */
  async isSignedIn(): Promise<boolean> {
    return (await this.#hasStoredSession()) || (this.#settings.transport.usesCookies && this.#findSession());
  }

  /**
   * Returns the access token, for requests that other libraries send. If `accessTokenTtlSeconds` is set and the token
   * expires soon, the client refreshes it first.
   * @param refused a token that the server has just refused. The client refreshes the tokens, unless it already has a
   *   newer token
   * @throws ClientError `signed_out`, `cookie_transport`, or the reason why the refresh failed
   */
  async accessToken({ refused }: { readonly refused?: string | undefined } = {}): Promise<string> {
    this.#refuseCookies('Send credentials, and call `refresh` after a 401.');
    return (await this.#authorized.validTokens(refused)).accessToken;
  }

  /**
   * Refreshes the session. With cookies, call this method if a request from another library fails with 401. With
   * tokens, call `accessToken({ refused })` instead.
   * @throws ClientError `signed_out`, or the reason why the refresh failed
   */
  refresh(): Promise<void> {
    return this.#authorized.refresh();
  }

  /**
   * Sends a request with the access token or the cookies. Relative URLs are resolved against `baseUrl`. If the server
   * refuses the token, the client refreshes the tokens and sends the request once more. If `init.body` is a stream, the
   * request cannot be sent again. In this case, or if the session has ended, the 401 is returned.
   * @throws ClientError `signed_out`, `foreign_origin`, or the reason why the refresh failed
   */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    return this.#authorized.send(input, init);
  }

  /**
   * Ends this session, if it has not already ended. If the request fails, this method rejects and keeps
   * the tokens. To remove the tokens without a request, call `forget` (not with cookies).
   */
  async logout(): Promise<void> {
    try {
      await this.#end('logout', json('POST'));
    } catch (error) {
      // If the server reports that the session has already ended, the logout is complete.
      if (!isEnd(error) || (await this.#hasStoredSession())) throw error;
    }
  }

  /** Ends all sessions of the user, or with `keepCurrent` all other sessions. @returns the number of ended sessions */
  async logoutAll({ keepCurrent = false }: { readonly keepCurrent?: boolean } = {}): Promise<number> {
    const [path, init] = ['logout/all', json('POST', { keep_current: keepCurrent })] as const;
    return readRevoked(await (keepCurrent ? this.#call(path, init) : this.#end(path, init)));
  }

  /** Returns the active sessions of the user, newest first. */
  async sessions(): Promise<Session[]> {
    return readSessions(await this.#call('sessions'));
  }

  /** Ends one session of the user, which can be the session of this client. @throws ClientError `not_found` */
  async revoke(sessionId: string): Promise<void> {
    const own = await this.#keeper.read();
    const [path, init] = [`sessions/${encodeURIComponent(sessionId)}`, json('DELETE')] as const;
    await (own?.sessionId === sessionId ? this.#authorized.sendEnd(own, path, init) : this.#call(path, init));
  }

  /**
   * Returns the latest events of the user, newest first. `limit`: the maximum number, 1 to 200. Default: 50.
   * `before`: the id of an event. Returns only earlier events. `event`: one or more names. Returns only these events.
   * @throws ClientError `invalid_fields`
   */
  async history(
    query: { readonly limit?: number; readonly before?: number; readonly event?: string | readonly string[] } = {},
  ): Promise<HistoryEntry[]> {
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    // `URLSearchParams` converts the values to text, and joins a list with commas.
    const parameters = new URLSearchParams(given as [string, string][]);
    return readHistory(await this.#call(`history?${String(parameters)}`));
  }

  /**
   * Changes the password. Other sessions end, unless the server disables `revokeOnPasswordChange`.
   * @throws ClientError `invalid_fields` with `currentPassword` or `newPassword`
   */
  async changePassword(currentPassword: string, newPassword: string): Promise<void> {
    const body = { current_password: currentPassword, new_password: newPassword };
    await this.#authorized.sendPassword('password/change', body);
  }

  /**
   * Confirms the password and stores the new tokens. Requires the server option
   * `endpoints: { reauthenticate: true }`. @throws ClientError `invalid_fields` with `password`
   */
  async reauthenticate(password: string): Promise<void> {
    await this.#authorized.sendPassword('reauthenticate', { password });
  }

  /**
   * Removes the stored tokens without a request. This method does not end the session on the server.
   * @throws ClientError `cookie_transport`
   */
  async forget(): Promise<void> {
    this.#refuseCookies('Use `logout`.');
    await this.#settings.lock.run(async () => {
      const tokens = await this.#keeper.read();
      if (tokens) await this.#keeper.end(tokens, 'signedOut');
    });
  }

  /** Calls the listener for each event of this name. @returns a function that removes the listener */
  on<Name extends ClientEventName>(name: Name, listener: (event: ClientEvents[Name]) => void): () => void {
    return this.#hub.on(name, listener);
  }

  /** Calls the listener when the session of this client ends. @returns a function that removes the listener */
  onSessionEnd(listener: (end: SessionEnd) => void): () => void {
    const stops = SESSION_ENDS.map((reason) =>
      this.#hub.on(reason, ({ sessionId }) => listener({ sessionId, reason })),
    );
    return () => stops.forEach((stop) => stop());
  }

  /** Stops receiving events from other tabs. */
  close(): void {
    this.#keeper.close();
  }

  /** Returns whether this client stores a session. */
  async #hasStoredSession(): Promise<boolean> {
    const tokens = await this.#keeper.read();
    return tokens !== null && hasSession(tokens);
  }

  /** Asks the server for the session of the cookies, and stores its id if none is stored. Returns whether it exists. */
  async #findSession(): Promise<boolean> {
    const sessions = await this.sessions().catch((error: unknown) => {
      if (isEnd(error)) return [];
      throw error;
    });
    const current = sessions.find(({ isCurrent }) => isCurrent);
    if (!current) return false;
    await this.#settings.lock.run(async () => {
      const own = (await this.#keeper.read()) ?? NO_SESSION;
      if (own.sessionId) return;
      await this.#keeper.begin({ ...own, sentAt: null, sessionId: current.id, generation: own.generation + 1 });
    });
    return true;
  }

  /** Sends a request with the cookies of a login, which the browser may not have kept. */
  async #requireCookies(): Promise<void> {
    const { authUrl, base, transport } = this.#settings;
    const request = transport.sign(new Request(authUrl('sessions')), null);
    // Only a refusal proves anything. The endpoint may not be mounted.
    if (!(await sendInTime(this.#settings, request, (response) => transport.isRefused(response)).catch(() => false)))
      return;
    const { protocol, hostname } = base();
    const page = (globalThis as { location?: { readonly hostname: string } }).location?.hostname ?? hostname;
    const problem =
      page !== hostname
        ? `Are ${page} and ${hostname} one site?`
        : protocol === 'http:'
          ? 'Over HTTP, set `cookies.secure: false`.'
          : 'Does it block cookies?';
    throw new ClientError('cookies_blocked', `The browser dropped the cookies. ${problem}`);
  }

  #refuseCookies(advice: string): void {
    if (!this.#settings.transport.usesCookies) return;
    throw new ClientError('cookie_transport', `Not possible with cookies. ${advice}`);
  }

  /** Calls a protected endpoint. */
  async #call(path: string, init?: RequestInit): Promise<unknown> {
    return readAnswer(await this.#authorized.send(this.#settings.authUrl(path), init).catch(rethrow));
  }

  /** Calls an endpoint that ends this session, and removes the stored tokens. */
  async #end(path: string, init: RequestInit): Promise<unknown> {
    return this.#authorized.sendEnd(await this.#authorized.requireTokens(), path, init);
  }
}

/** Returns whether a call failed with a 401, or because nobody is signed in. */
function isEnd(error: unknown): boolean {
  return isSignedOut(error) || (error instanceof ClientError && error.status === 401);
}
