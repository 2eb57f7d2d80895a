import { ClientError, isSignedOut, signedOut } from './errors.js';
import type { Settings } from './options.js';
import type { Refresher } from './refresher.js';
import { discard, json, readAnswer, sendIfReachable } from './requests.js';
import type { TokenKeeper } from './token-keeper.js';
import { hasSession, type Tokens } from './token-storage.js';

/** Sends requests with the credentials of the session to the origins that may receive the credentials. */
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
    const isRepeatable = canRepeat(init?.body);
    // The token of a request that cannot be repeated must remain valid for longer.
    const tokens = await unlessAborted(this.#tokensToSend(isRepeatable ? aheadMs : 2 * aheadMs), signal);
    const response = await environment.fetch(transport.sign(first, tokens));
    if (!tokens || !(await transport.isRefused(response))) return response;
    try {
      const refreshed = await unlessAborted(this.refresher.refresh(tokens, 'invalid'), signal);
      if (!isRepeatable) return response;
      discard(response);
      return await environment.fetch(transport.sign(this.#request(input, init), refreshed));
    } catch (error) {
      if (isSignedOut(error)) return response;
      discard(response);
      throw error;
    }
  }

  /**
   * Returns tokens that are not known to have expired, after an attempt to refresh tokens that expire soon.
   * @param refused an access token that the server has refused
   */
  async validTokens(refused?: string): Promise<Tokens> {
    const stored = await this.requireTokens();
    if (stored.accessToken === refused) return this.refresher.refresh(stored, 'invalid');
    const tokens = await this.#refreshAhead(stored, this.settings.aheadMs);
    return this.#expiresWithin(0, tokens) ? this.refresher.refresh(tokens, 'invalid') : tokens;
  }

  /** Refreshes the session. */
  async refresh(): Promise<void> {
    await this.refresher.refresh(await this.requireTokens(), 'invalid');
  }

  /** Sends a password to an endpoint that issues new tokens. Stores them unless another session is stored by then. */
  async sendPassword(path: string, body: object): Promise<void> {
    const { transport } = this.settings;
    // If the response is lost, the old refresh token may be revoked but is not used, so sending this token again is
    // not reuse.
    await this.#sendAlone(await this.requireTokens(), path, json('POST', body), (current, answer, sentAt) =>
      this.keeper.renew(current, transport.readPair(answer), sentAt),
    );
  }

  /** Sends a request that ends this session. Removes its tokens if they are still stored. Returns the JSON response. */
  sendEnd(session: Tokens, path: string, init: RequestInit): Promise<unknown> {
    return this.#sendAlone(session, path, init, (current) => this.keeper.end(current, 'signedOut'));
  }

  /**
   * Sends a request that replaces or revokes the tokens of a session. Holds the lock meanwhile,
   * because the server could refuse a concurrent refresh, and the client would then report that the
   * session was ended elsewhere.
   */
  async #sendAlone(
    session: Tokens,
    path: string,
    init: RequestInit,
    conclude: (current: Tokens, answer: unknown, sentAt: number) => Promise<unknown>,
    isRetry = false,
  ): Promise<unknown> {
    const { lock, transport, now, authUrl } = this.settings;
    const { current, answer } = await lock.run(async () => {
      const stored = await this.keeper.read();
      if (!stored) throw signedOut();
      const isStored = stored.sessionId === session.sessionId;
      // After another login, the cookies belong to the new session.
      if (!isStored && transport.usesCookies) throw sessionChanged();
      const current = isStored ? stored : session;
      const sentAt = now();
      const request = transport.sign(new Request(authUrl(path), init), current);
      return sendIfReachable(this.settings, request, async (response) => {
        if (await transport.isRefused(response)) return { current };
        const answer = await readAnswer(response);
        if (isStored) await conclude(current, answer, sentAt);
        return { current, answer };
      });
    });
    if (answer !== undefined) return answer;
    if (isRetry) throw signedOut();
    await this.refresher.refresh(current, 'invalid');
    return this.#sendAlone(current, path, init, conclude, true);
  }

  /** Returns the tokens of the session that this tab shows. @throws ClientError `signed_out`, `session_changed` */
  async requireTokens(): Promise<Tokens> {
    const shown = this.keeper.sessionId;
    const tokens = await this.keeper.read();
    if (!tokens) throw signedOut();
    if (shown && hasSession(tokens) && tokens.sessionId !== shown) throw sessionChanged();
    return tokens;
  }

  /** Returns the tokens for a request, or null if the request is to be sent without tokens. */
  async #tokensToSend(aheadMs: number): Promise<Tokens | null> {
    try {
      return await this.#refreshAhead(await this.requireTokens(), aheadMs);
    } catch (error) {
      if (this.settings.sendsAnonymous && isSignedOut(error)) return null;
      throw error;
    }
  }

  /** Returns newer tokens if a refresh is due and succeeds, otherwise these tokens. @throws ClientError `signed_out` */
  async #refreshAhead(tokens: Tokens, aheadMs: number): Promise<Tokens> {
    // The browser may have received the cookies of a refresh although the page has not received the response.
    const isInDoubt = this.settings.transport.usesCookies && this.refresher.isResolvable(tokens);
    if (!isInDoubt && !this.#expiresWithin(aheadMs, tokens)) return tokens;
    // The access token may still be valid. Otherwise the server refuses the request.
    return this.refresher.refresh(tokens, 'expiring');
  }

  #expiresWithin(milliseconds: number, { accessExpiresAt }: Tokens): boolean {
    return accessExpiresAt !== null && this.settings.now() >= accessExpiresAt - milliseconds;
  }

  /** Returns the request for one attempt, to which the transport then adds the credentials. */
  #request(input: string | URL | Request, init?: RequestInit): Request {
    const { base, isTrusted } = this.settings;
    const { origin, href } = new URL(input instanceof Request ? input.url : input, base());
    if (isTrusted(origin)) return new Request(input instanceof Request ? input.clone() : href, init);
    throw new ClientError('foreign_origin', `Add ${origin} to \`origins\`, or use global fetch.`);
  }
}

function sessionChanged(): ClientError {
  return new ClientError('session_changed', 'Another login replaced this session. See `sessionChanged`.');
}

/** Returns whether a body can be sent again. The first request consumes a stream. */
function canRepeat(body: RequestInit['body']): boolean {
  const stream = body as Partial<ReadableStream & AsyncIterable<unknown>> | null | undefined;
  return !stream?.getReader && !stream?.[Symbol.asyncIterator];
}

/** Rejects if the caller aborts during the work. The refresh continues, because others may wait for it. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
    // A page may use one signal for all of its requests. Without the removal, listeners accumulate.
    void work.then(resolve, reject).then(() => signal.removeEventListener('abort', abort));
  });
}
