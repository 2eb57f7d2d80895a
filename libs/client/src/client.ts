import { AuthorizedFetch } from './authorized-fetch.js';
import { ClientError } from './errors.js';
import { EventHub, SESSION_ENDS, type ClientEventName, type ClientEvents, type SessionEnd } from './events.js';
import { resolveOptions, type AuthClientOptions, type Settings } from './options.js';
import { Refresher } from './refresher.js';
import { json, readAnswer, rethrow, sendInTime } from './requests.js';
import { TokenKeeper } from './token-keeper.js';
import { isSomebody, NOBODY } from './token-storage.js';
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
 * A client of the endpoints of `nestjs-session-auth`, and a `fetch` for all routes behind its guard.
 *
 * It refreshes the tokens by itself, one tab at a time, and never repeats a refresh token that may be
 * used, except within the configured grace period: it does not trigger the server's reuse detection.
 * Every method rejects with `ClientError`, or with the error of a storage that fails. `fetch` alone
 * also rejects with the network errors of the platform.
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
    // Within the grace period the server answers with the pair that the other tab has.
    this.#keeper.onSuperseded = (tokens) => void refresher.refresh(tokens, 'expiring').catch(() => undefined);
    this.#authorized = new AuthorizedFetch(this.#settings, this.#keeper, refresher);
  }

  /**
   * Signs in, and forgets the tokens of an earlier login.
   * @throws ClientError `invalid_credentials`, `invalid_fields`, `session_limit_reached`,
   * `too_many_attempts`, `unavailable`
   */
  async login(username: string, password: string): Promise<{ readonly sessionId: string }> {
    const { authUrl, lock, transport } = this.#settings;
    const request = new Request(authUrl('login/'), json('POST', { username, password }));
    // A refresh that is under way would replace the cookies of the login.
    return lock.run(async () => {
      const sentAt = this.#now();
      const answer = await sendInTime(this.#settings, transport.sign(request, null), readAnswer).catch(rethrow);
      const sessionId = text(answer, 'session_id');
      await this.#keeper.open(sessionId, transport.readPair(answer), sentAt);
      return { sessionId };
    });
  }

  /**
   * Takes over the tokens of a session that the application has opened, as after single sign-on, and forgets those of an
   * earlier one.
   * @throws ClientError `cookie_transport`; `unexpected_answer` where one of the three is missing
   */
  async adopt(opened: TokenPair & { readonly sessionId: string }): Promise<void> {
    this.#refuseCookies('Use `AuthCookies.set` on the server.');
    const pair = { accessToken: text(opened, 'accessToken'), refreshToken: text(opened, 'refreshToken') };
    const sessionId = text(opened, 'sessionId');
    await this.#settings.lock.run(() => this.#keeper.open(sessionId, pair, this.#now()));
  }

  /**
   * Whether there is a session in this browser. The server may have ended it: the next request reports it. With cookies,
   * and where nothing is stored, it asks the server, since the application may have opened the session.
   * @throws ClientError if the server is asked and cannot be reached
   */
  async isSignedIn(): Promise<boolean> {
    return (await this.#isKnown()) || (this.#settings.transport.usesCookies && this.#findSession());
  }

  /**
   * Returns an access token that is valid now, for requests that other libraries send. It is refreshed shortly before it
   * expires if `accessTokenTtlSeconds` is set.
   * @param refused the token that the server has just refused: it is refreshed, unless there is a newer one already
   * @throws ClientError `signed_out`, `cookie_transport`, or the reason why it cannot be refreshed now
   */
  async accessToken({ refused }: { readonly refused?: string | undefined } = {}): Promise<string> {
    this.#refuseCookies('Send credentials, and call `refresh` after a 401.');
    return (await this.#authorized.validTokens(refused)).accessToken;
  }

  /**
   * Refreshes the session: with cookies, after a 401 to a request that another library has sent. With tokens, use
   * `accessToken({ refused })`.
   * @throws ClientError `signed_out`, or the reason why it cannot be refreshed now
   */
  refresh(): Promise<void> {
    return this.#authorized.refresh();
  }

  /**
   * Sends a request with the access token or the cookies. Relative addresses are resolved against `baseUrl`. If the
   * token is refused, it is refreshed once and the request repeated; with a stream as body the 401 is
   * returned instead.
   * @throws ClientError `signed_out` or `foreign_origin` before anything is sent; the reason why an
   * invalid token cannot be refreshed now
   */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    return this.#authorized.send(input, init);
  }

  /** Ends this session. If the server cannot be reached it rejects and keeps the tokens: see `forget`. */
  async logout(): Promise<void> {
    try {
      await this.#endAfter(() => this.#call('logout/', json('POST')));
    } catch (error) {
      // If the request itself has found that the session had ended, the logout is done.
      if (!isEnd(error) || (await this.#isKnown())) throw error;
    }
  }

  /** Ends all sessions of the user, or all but this one. @returns how many were ended */
  async logoutAll({ keepCurrent = false }: { readonly keepCurrent?: boolean } = {}): Promise<number> {
    const call = (): Promise<unknown> => this.#call('logout/all/', json('POST', { keep_current: keepCurrent }));
    return readRevoked(await (keepCurrent ? call() : this.#endAfter(call)));
  }

  /** The active sessions of the user, newest first. */
  async sessions(): Promise<Session[]> {
    return readSessions(await this.#call('sessions/'));
  }

  /** Ends one session of the user, which may be this one. @throws ClientError `not_found` */
  async revoke(sessionId: string): Promise<void> {
    const own = await this.#keeper.read();
    const call = (): Promise<unknown> => this.#call(`sessions/${encodeURIComponent(sessionId)}/`, json('DELETE'));
    await (own?.sessionId === sessionId ? this.#endAfter(call) : call());
  }

  /**
   * The latest events of the user, newest first: `limit` (1 to 200, default 50) of those before the event with the id
   * `before`, and of the names in `event`.
   * @throws ClientError `invalid_fields`
   */
  async history(
    query: { readonly limit?: number; readonly before?: number; readonly event?: string | readonly string[] } = {},
  ): Promise<HistoryEntry[]> {
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const parameters = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
    return readHistory(await this.#call(`history/?${String(parameters)}`));
  }

  /**
   * Changes the password. The other sessions end, unless the server is configured otherwise.
   * @throws ClientError `invalid_fields` with `currentPassword` or `newPassword`
   */
  async changePassword(currentPassword: string, newPassword: string): Promise<void> {
    const body = { current_password: currentPassword, new_password: newPassword };
    await this.#authorized.sendPassword('password/change/', body);
  }

  /** Confirms the password and stores the new tokens. The server needs `recentLogin: { endpoint: true }`. */
  async reauthenticate(password: string): Promise<void> {
    await this.#authorized.sendPassword('reauthenticate/', { password });
  }

  /**
   * Forgets the tokens without a request: the session stays active until it expires.
   * @throws ClientError `cookie_transport`
   */
  async forget(): Promise<void> {
    this.#refuseCookies('Use `logout`.');
    await this.#endAfter(() => Promise.resolve());
  }

  /** Calls the listener for each event of this name. @returns a function that removes the listener */
  on<Name extends ClientEventName>(name: Name, listener: (event: ClientEvents[Name]) => void): () => void {
    return this.#hub.on(name, listener);
  }

  /** Calls the listener when the session of this browser has ended. @returns a function that removes the listener */
  onSessionEnd(listener: (end: SessionEnd) => void): () => void {
    const stops = SESSION_ENDS.map((reason) =>
      this.#hub.on(reason, ({ sessionId }) => listener({ sessionId, reason })),
    );
    return () => stops.forEach((stop) => stop());
  }

  /** Stops listening to the other tabs. */
  close(): void {
    this.#keeper.close();
  }

  #now(): number {
    return this.#settings.environment.clock.now();
  }

  /** Whether this browser stores a session. */
  async #isKnown(): Promise<boolean> {
    const tokens = await this.#keeper.read();
    return tokens !== null && isSomebody(tokens);
  }

  /** Finds a session that the application has opened with cookies. */
  async #findSession(): Promise<boolean> {
    const sessions = await this.sessions().catch((error: unknown) => {
      if (isEnd(error)) return [];
      throw error;
    });
    const current = sessions.find(({ isCurrent }) => isCurrent);
    if (!current) return false;
    await this.#settings.lock.run(async () => {
      const { sessionId, generation } = (await this.#keeper.read()) ?? NOBODY;
      if (sessionId === '') await this.#keeper.write({ ...NOBODY, sessionId: current.id, generation: generation + 1 });
    });
    return true;
  }

  #refuseCookies(advice: string): void {
    if (!this.#settings.transport.usesCookies) return;
    throw new ClientError('cookie_transport', `The browser keeps cookies, and no tokens. ${advice}`);
  }

  /** Calls a protected endpoint. */
  async #call(path: string, init?: RequestInit): Promise<unknown> {
    return readAnswer(await this.#authorized.send(this.#settings.authUrl(path), init).catch(rethrow));
  }

  /** Forgets the tokens once the call has ended their session, unless another login has replaced them. */
  async #endAfter<T>(call: () => Promise<T>): Promise<T> {
    const ended = await this.#keeper.read();
    const answer = await call();
    if (!ended) return answer;
    await this.#settings.lock.run(async () => {
      const tokens = await this.#keeper.read();
      if (tokens?.sessionId === ended.sessionId) await this.#keeper.end(tokens, 'signedOut');
    });
    return answer;
  }
}

/** Whether a call has failed because there is no session any more. */
function isEnd(error: unknown): boolean {
  return error instanceof ClientError && (error.status === 401 || error.code === 'signed_out');
}
