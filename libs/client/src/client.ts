import { AuthorizedFetch } from './authorized-fetch.js';
import { EventHub, type ClientEventName, type ClientEvents } from './events.js';
import { resolveOptions, type AuthClientOptions, type Settings } from './options.js';
import { Refresher } from './refresher.js';
import { json, readAnswer, rethrow, sendInTime } from './requests.js';
import { TokenKeeper } from './token-keeper.js';
import { readHistory, readPair, readRevoked, readSessions, text, type HistoryEntry, type Session } from './wire.js';

/**
 * A client of the endpoints of `nestjs-session-auth`, and a `fetch` for all routes behind its guard.
 *
 * It refreshes the tokens by itself, one tab at a time, and never repeats a refresh token that may be
 * used, except within the configured grace period: it does not trigger the server's reuse detection.
 * Every method rejects with `ClientError`, or with the error of a storage that fails. `fetch` alone
 * also rejects with the network errors of the platform.
 */
export class AuthClient {
  private readonly settings: Settings;
  private readonly hub = new EventHub();
  private readonly keeper: TokenKeeper;
  private readonly authorized: AuthorizedFetch;

  constructor(options: AuthClientOptions = {}) {
    this.settings = resolveOptions(options);
    this.keeper = new TokenKeeper(this.settings, this.hub);
    this.authorized = new AuthorizedFetch(this.settings, this.keeper, new Refresher(this.settings, this.keeper));
  }

  /**
   * Signs in, and forgets the tokens of an earlier login.
   * @throws ClientError `invalid_credentials`, `invalid_fields`, `session_limit_reached`,
   * `too_many_attempts`, `unavailable`
   */
  async login(username: string, password: string): Promise<{ readonly sessionId: string }> {
    const sentAt = this.settings.environment.clock.now();
    const request = new Request(this.settings.authUrl('login/'), json('POST', { username, password }));
    const answer = await sendInTime(this.settings, request, readAnswer).catch(rethrow);
    const sessionId = text(answer, 'session_id');
    const pair = readPair(answer);
    await this.settings.lock.run(() => this.keeper.open(sessionId, pair, sentAt));
    return { sessionId };
  }

  /** Whether tokens are stored. The server may have ended their session: the next request reports it. */
  async isSignedIn(): Promise<boolean> {
    return (await this.keeper.read()) !== null;
  }

  /**
   * Sends a request with the access token. Relative addresses are resolved against `baseUrl`. If the
   * token is refused, it is refreshed once and the request repeated; with a stream as body the 401 is
   * returned instead.
   * @throws ClientError `signed_out` or `foreign_origin` before anything is sent; the reason why an
   * invalid token cannot be refreshed now
   */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    return this.authorized.send(input, init);
  }

  /** Ends this session. If the server cannot be reached it rejects and keeps the tokens: see `forget`. */
  async logout(): Promise<void> {
    try {
      await this.endAfter(() => this.call('logout/', json('POST')));
    } catch (error) {
      // If the request itself has found that the session had ended, the logout is done.
      if (await this.isSignedIn()) throw error;
    }
  }

  /** Ends all sessions of the user, or all but this one. @returns how many were ended */
  async logoutAll({ keepCurrent = false }: { readonly keepCurrent?: boolean } = {}): Promise<number> {
    const call = (): Promise<unknown> => this.call('logout/all/', json('POST', { keep_current: keepCurrent }));
    return readRevoked(await (keepCurrent ? call() : this.endAfter(call)));
  }

  /** The active sessions of the user, newest first. */
  async sessions(): Promise<Session[]> {
    return readSessions(await this.call('sessions/'));
  }

  /** Ends one session of the user, which may be this one. @throws ClientError `not_found` */
  async revoke(sessionId: string): Promise<void> {
    const own = await this.keeper.read();
    const call = (): Promise<unknown> => this.call(`sessions/${encodeURIComponent(sessionId)}/`, json('DELETE'));
    await (own?.sessionId === sessionId ? this.endAfter(call) : call());
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
    return readHistory(await this.call(`history/${given.length > 0 ? `?${String(parameters)}` : ''}`));
  }

  /**
   * Changes the password. The other sessions end, unless the server is configured otherwise.
   * @throws ClientError `invalid_fields` with `currentPassword` or `newPassword`
   */
  async changePassword(currentPassword: string, newPassword: string): Promise<void> {
    const body = { current_password: currentPassword, new_password: newPassword };
    await this.authorized.sendPassword('password/change/', body).catch(rethrow);
  }

  /** Confirms the password and stores the new tokens. The server needs `recentLogin: { endpoint: true }`. */
  async reauthenticate(password: string): Promise<void> {
    await this.authorized.sendPassword('reauthenticate/', { password }).catch(rethrow);
  }

  /** Forgets the tokens without a request: the session stays active until it expires. */
  async forget(): Promise<void> {
    await this.endAfter(() => Promise.resolve());
  }

  /** Calls the listener for each event of this name. @returns a function that removes the listener */
  on<Name extends ClientEventName>(name: Name, listener: (event: ClientEvents[Name]) => void): () => void {
    return this.hub.on(name, listener);
  }

  /** Stops listening to the other tabs. */
  close(): void {
    this.keeper.close();
  }

  /** Calls a protected endpoint. */
  private async call(path: string, init?: RequestInit): Promise<unknown> {
    return readAnswer(await this.authorized.send(this.settings.authUrl(path), init).catch(rethrow));
  }

  /** Forgets the tokens once the call has ended their session, unless another login has replaced them. */
  private async endAfter<T>(call: () => Promise<T>): Promise<T> {
    const ended = await this.keeper.read();
    const answer = await call();
    if (!ended) return answer;
    await this.settings.lock.run(async () => {
      const tokens = await this.keeper.read();
      if (tokens?.sessionId === ended.sessionId) await this.keeper.end(tokens, 'signedOut');
    });
    return answer;
  }
}
