import { ClientError } from './errors.js';
import type { Settings } from './options.js';
import type { Refresher } from './refresher.js';
import { json, readAnswer, rethrow, sendInTime } from './requests.js';
import type { TokenKeeper } from './token-keeper.js';
import type { Tokens } from './token-storage.js';

/** `fetch` with the credentials of the session, for the origins that may see them. */
export class AuthorizedFetch {
  constructor(
    private readonly settings: Settings,
    private readonly keeper: TokenKeeper,
    private readonly refresher: Refresher,
  ) {}

  async send(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const { aheadMs, environment, transport } = this.settings;
    const first = this.#request(input, init);
    const { signal } = first;
    signal.throwIfAborted();
    const stored = await this.#signedIn();
    const isRepeatable = canRepeat(init?.body);
    // A request that cannot be repeated needs a token that stays valid for longer.
    const tokens = await unlessAborted(this.#fresh(stored, isRepeatable ? aheadMs : 2 * aheadMs), signal);
    const response = await environment.fetch(transport.sign(first, tokens));
    if (!(await transport.isRefused(response))) return response;
    const refreshed = await unlessAborted(this.refresher.refresh(tokens, 'invalid'), signal);
    if (refreshed.kind !== 'not_now' && (refreshed.kind !== 'renewed' || !isRepeatable)) return response;
    await response.body?.cancel();
    if (refreshed.kind === 'not_now') throw refreshed.error;
    return environment.fetch(transport.sign(this.#request(input, init), refreshed.tokens));
  }

  /** Returns tokens that are valid for a while. @param refused an access token that the server has refused */
  async validTokens(refused?: string): Promise<Tokens> {
    const stored = await this.#signedIn();
    if (stored.accessToken === refused) return this.#renewed(stored);
    const tokens = await this.#fresh(stored, this.settings.aheadMs);
    return this.#expiresWithin(0, tokens) ? this.#renewed(tokens) : tokens;
  }

  /** Refreshes the session. */
  async refresh(): Promise<void> {
    await this.#renewed(await this.#signedIn());
  }

  /** Sends a password to an endpoint that answers with a new token pair. */
  async sendPassword(path: string, body: object): Promise<void> {
    const refused = await this.#reissue(path, body);
    if (!refused) return;
    await this.#renewed(refused);
    if (await this.#reissue(path, body, refused.sessionId)) throw signedOut();
  }

  /**
   * Holds the lock, since the endpoint replaces both tokens and a refresh at the same time would be
   * refused. If the response is lost, the old refresh token is revoked and not used: sending it
   * again is not reuse.
   * @returns the tokens that were refused, or null on success
   */
  #reissue(path: string, body: object, sessionId?: string): Promise<Tokens | null> {
    const { lock, transport, environment, authUrl } = this.settings;
    return lock.run(async () => {
      const current = await this.#signedIn();
      if (current.sessionId !== (sessionId ?? current.sessionId)) throw signedOut();
      const sentAt = environment.clock.now();
      const request = transport.sign(new Request(authUrl(path), json('POST', body)), current);
      return sendInTime(this.settings, request, async (response) => {
        if (await transport.isRefused(response)) return current;
        await this.keeper.renew(current, transport.readPair(await readAnswer(response)), sentAt);
        return null;
      }).catch(rethrow);
    });
  }

  async #signedIn(): Promise<Tokens> {
    const tokens = await this.keeper.read();
    if (!tokens) throw signedOut();
    return tokens;
  }

  /** Returns these tokens, or newer ones where the access token is known to expire soon. */
  async #fresh(tokens: Tokens, aheadMs: number): Promise<Tokens> {
    // The browser may have received the cookies of a refresh although the page has not received the response.
    const isInDoubt = this.settings.transport.usesCookies && this.refresher.isResolvable(tokens);
    if (!isInDoubt && !this.#expiresWithin(aheadMs, tokens)) return tokens;
    const refreshed = await this.refresher.refresh(tokens, 'expiring');
    if (refreshed.kind === 'signed_out') throw signedOut();
    // The token may still be valid; if not, the server refuses it.
    return refreshed.kind === 'renewed' ? refreshed.tokens : tokens;
  }

  async #renewed(tokens: Tokens): Promise<Tokens> {
    const refreshed = await this.refresher.refresh(tokens, 'invalid');
    if (refreshed.kind === 'renewed') return refreshed.tokens;
    throw refreshed.kind === 'not_now' ? refreshed.error : signedOut();
  }

  #expiresWithin(milliseconds: number, { accessExpiresAt }: Tokens): boolean {
    return accessExpiresAt !== null && this.settings.environment.clock.now() >= accessExpiresAt - milliseconds;
  }

  /** The request of one attempt, without credentials. */
  #request(input: string | URL | Request, init?: RequestInit): Request {
    const { base, origins } = this.settings;
    const { origin, href } = new URL(input instanceof Request ? input.url : input, base);
    if (origins.has(origin)) return new Request(input instanceof Request ? input.clone() : href, init);
    throw new ClientError('foreign_origin', `${origin} is not one of the \`origins\`.`);
  }
}

function signedOut(): ClientError {
  return new ClientError('signed_out', 'Nobody is signed in.');
}

/** The first request uses a stream up. */
function canRepeat(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return true;
  const kinds = [URLSearchParams, FormData, Blob, ArrayBuffer];
  return ArrayBuffer.isView(body) || kinds.some((kind) => body instanceof kind);
}

/** Rejects as soon as the caller aborts. The refresh goes on, since others wait for it too. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', abort);
    // A page may use one signal for all its requests, and browsers keep what listens to it.
    void work.then(resolve, reject).then(() => signal.removeEventListener('abort', abort));
  });
}
