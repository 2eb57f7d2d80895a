import { readAnswer } from './answers.js';
import { assemble, type AuthClientOptions, type Parts } from './assemble.js';
import type { ClientEventName, ClientEvents } from './events.js';
import { changePassword } from './password-change.js';
import { json, rethrow, within } from './requests.js';
import { readHistory, readPair, readRevoked, readSessions, text, type HistoryEntry, type Session } from './wire.js';

/**
 * A client of the endpoints of `nestjs-session-auth`, and a `fetch` for everything behind its guard.
 *
 * It refreshes by itself, one tab at a time, and never sends a refresh token that may be used up already but within the grace
 * that it was told of: the server's alarm (reuse detection) is not for it. Every method rejects with `ClientError`, or with the
 * error of a storage that fails; only `fetch` has the network errors and the answers of the platform's.
 */
export class AuthClient {
  private readonly parts: Parts;

  constructor(options: AuthClientOptions = {}) {
    this.parts = assemble(options);
  }

  /**
   * Signs in; whoever was signed in here before is forgotten.
   * @throws ClientError `invalid_credentials`, `invalid_fields`, `session_limit_reached`, `too_many_attempts`, `unavailable`
   */
  async login(username: string, password: string): Promise<{ readonly sessionId: string }> {
    const { authUrl, keeper, lock, tokens, timeoutMs, world } = this.parts;
    const sentAt = world.clock.now();
    const request = new Request(authUrl('login/'), json('POST', { username, password }));
    const answer = await within(timeoutMs, world, request, readAnswer).catch(rethrow);
    const sessionId = text(answer, 'session_id');
    const opened = tokens.opened(sessionId, readPair(answer), sentAt);
    await lock.run(() => keeper.write(opened));
    return { sessionId };
  }

  /** Whether there are tokens here. The server may have ended their session: the next request finds out. */
  async isSignedIn(): Promise<boolean> {
    return (await this.parts.keeper.read()) !== null;
  }

  /**
   * Sends a request with the token. A relative address is reckoned from `baseUrl`. A refused token is refreshed once and the request
   * repeated, unless its body is a stream: then the 401 is the answer.
   * @throws ClientError `signed_out` or `foreign_origin` before anything is sent; what keeps a dead token from being refreshed now
   */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    return this.parts.authorized.send(input, init);
  }

  /** Ends this session, if it lives. Where the server cannot be asked it rejects, and the tokens stay: see `forget`. */
  async logout(): Promise<void> {
    try {
      await this.ending(() => this.call('logout/', json('POST')));
    } catch (error) {
      // It was over before, and the client has found out just now.
      if (await this.isSignedIn()) throw error;
    }
  }

  /** Ends all sessions of the user, but for this one if so wanted. @returns how many were ended */
  async logoutAll({ keepCurrent = false }: { readonly keepCurrent?: boolean } = {}): Promise<number> {
    const call = (): Promise<unknown> => this.call('logout/all/', json('POST', { keep_current: keepCurrent }));
    return readRevoked(await (keepCurrent ? call() : this.ending(call)));
  }

  /** The active sessions of the user, newest first. */
  async sessions(): Promise<Session[]> {
    return readSessions(await this.call('sessions/'));
  }

  /** Ends one session of the user, which may be this one. @throws ClientError `not_found` */
  async revoke(sessionId: string): Promise<void> {
    const own = await this.parts.keeper.read();
    const call = (): Promise<unknown> => this.call(`sessions/${encodeURIComponent(sessionId)}/`, json('DELETE'));
    await (own?.sessionId === sessionId ? this.ending(call) : call());
  }

  /** The latest events of the user, newest first. @param limit 1 to 200, 50 if left out */
  async history(limit?: number): Promise<HistoryEntry[]> {
    return readHistory(await this.call(`history/${limit === undefined ? '' : `?limit=${limit}`}`));
  }

  /**
   * Changes the password; the other sessions end, unless the server says otherwise.
   * @throws ClientError `invalid_fields` with `currentPassword` or `newPassword`
   */
  async changePassword(currentPassword: string, newPassword: string): Promise<void> {
    const body = { current_password: currentPassword, new_password: newPassword };
    await changePassword(this.parts, this.parts.authUrl('password/change/'), body).catch(rethrow);
  }

  /** Proves once more who the user is. The server has the endpoint with `recentLogin: { endpoint: true }`. */
  async reauthenticate(password: string): Promise<void> {
    await this.call('reauthenticate/', json('POST', { password }));
  }

  /** Forgets the tokens without asking the server: the session lives on until its time is over. */
  async forget(): Promise<void> {
    const tokens = await this.parts.keeper.read();
    if (tokens) await this.over(tokens.sessionId);
  }

  /** Calls the listener from now on. @returns what stops it */
  on<Name extends ClientEventName>(name: Name, listener: (event: ClientEvents[Name]) => void): () => void {
    return this.parts.hub.on(name, listener);
  }

  /** Hears nothing of the other tabs any longer. */
  close(): void {
    this.parts.keeper.close();
  }

  /** Asks an endpoint that needs the token. */
  private async call(path: string, init?: RequestInit): Promise<unknown> {
    const { authUrl, authorized } = this.parts;
    return readAnswer(await authorized.send(authUrl(path), init).catch(rethrow));
  }

  /** Forgets the tokens when the server has ended their session. */
  private async ending<T>(call: () => Promise<T>): Promise<T> {
    const tokens = await this.parts.keeper.read();
    const answer = await call();
    if (tokens) await this.over(tokens.sessionId);
    return answer;
  }

  /** The session is over, unless somebody has signed in to another one meanwhile. */
  private async over(sessionId: string): Promise<void> {
    const { keeper, lock } = this.parts;
    await lock.run(async () => {
      const tokens = await keeper.read();
      if (tokens?.sessionId === sessionId) await keeper.end(tokens, 'signedOut');
    });
  }
}
