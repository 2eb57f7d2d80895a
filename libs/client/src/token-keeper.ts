import type { ClientEventName, EventHub, SessionEndReason } from './events.js';
import type { Settings } from './options.js';
import { openChannel, type TabChannel, type TabMessage } from './tab-channel.js';
import { hasSession, isTokens, NO_SESSION, type Tokens } from './token-storage.js';
import type { TokenPair } from './wire.js';

/** Reads and writes the stored tokens, and notifies this tab and the other tabs of changes. */
export class TokenKeeper {
  readonly #channel: TabChannel;
  /** The id of the session whose end has not been emitted, or null. */
  #sessionId: string | null = null;
  /** The session and the generation of the last `refreshed` event. */
  #emitted: string | null = null;
  /** Called with this tab's own copy of the tokens when another tab has newer tokens of the session. */
  onSuperseded: (tokens: Tokens) => void = () => undefined;

  constructor(
    private readonly settings: Settings,
    private readonly hub: EventHub,
  ) {
    // Ignores errors of the storage here, because a later call reports them to its caller.
    this.#channel = openChannel(settings, (message) => void this.#receive(message).catch(() => undefined));
    // Reads the id of the session, so that a page emits the end of its session even before its first request.
    this.read().catch(() => undefined);
  }

  async read(): Promise<Tokens | null> {
    const tokens = await this.settings.storage.read();
    if (!isTokens(tokens, this.settings.transport.usesCookies)) return null;
    if (hasSession(tokens)) this.#sessionId = tokens.sessionId;
    return tokens;
  }

  /** Stores the tokens without an event. */
  async write(tokens: Tokens): Promise<void> {
    await this.settings.storage.write(tokens);
    if (hasSession(tokens)) this.#sessionId = tokens.sessionId;
  }

  /**
   * Stores a pair of a session. If the session is already stored, the pair renews it (see `renew`).
   * @param sentAt when the pair was requested, or passed to `adopt`
   */
  async open(sessionId: string, pair: TokenPair, sentAt: number): Promise<unknown> {
    const own = await this.read();
    if (own?.sessionId === sessionId) return this.renew(own, pair, sentAt);
    return this.write(this.#tokens(sessionId, 0, pair, sentAt));
  }

  /**
   * Stores the pair that replaces these tokens. The pair has the next generation, so that the marks of earlier
   * generations do not apply to the pair (see `RefreshMarks`).
   */
  async renew({ sessionId, generation }: Tokens, pair: TokenPair, sentAt: number): Promise<Tokens> {
    const tokens = this.#tokens(sessionId, generation + 1, pair, sentAt);
    await this.write(tokens);
    this.#post('refreshed', tokens);
    this.#emitRefreshed(tokens);
    return tokens;
  }

  /** Removes the tokens of a session, and reports the end of the session. */
  async end(tokens: Tokens, reason: SessionEndReason): Promise<void> {
    const { storage, transport } = this.settings;
    // The browser keeps the cookies. The mark prevents a refresh with the cookies: see `RefreshMarks`.
    const isInDoubt = transport.usesCookies && reason === 'signInNeeded';
    await storage.write(isInDoubt ? { ...NO_SESSION, sentAt: 0 } : null);
    if (!hasSession(tokens)) return;
    this.#post(reason, tokens);
    this.#emitEnd(tokens.sessionId, reason);
  }

  close(): void {
    this.#channel.close();
  }

  /** Reports an event to the other tabs. Ignores the errors of a closed channel or a full storage. */
  #post(event: ClientEventName, { sessionId, generation }: Tokens): void {
    try {
      this.#channel.post({ event, sessionId, generation });
    } catch {
      // Tabs that share the storage notice the change when they next read it.
    }
  }

  #tokens(sessionId: string, generation: number, pair: TokenPair, sentAt: number): Tokens {
    const { accessTtlMs } = this.settings;
    return { ...pair, sessionId, generation, accessExpiresAt: accessTtlMs && sentAt + accessTtlMs, sentAt: null };
  }

  async #receive(message: TabMessage): Promise<void> {
    const { event, sessionId, generation } = message;
    const { storage } = this.settings;
    const isCopied = storage.reach === 'tab';
    const own = await this.read();
    if (event === 'refreshed') {
      if (own?.sessionId !== sessionId) return;
      // A duplicated tab must refresh its own tokens. Other tabs share the storage that has the new tokens.
      if (!isCopied) this.#emitRefreshed(message);
      else if (own.generation < generation) this.onSuperseded(own);
      return;
    }
    if (isCopied && own?.sessionId === sessionId) {
      // A duplicated tab whose tokens are older must not end the session of a tab with newer tokens.
      if (event !== 'signedOut' && own.generation > generation) return;
      await storage.write(null);
    }
    if (this.#sessionId === sessionId) this.#emitEnd(sessionId, event);
  }

  #emitRefreshed({ sessionId, generation }: Pick<Tokens, 'sessionId' | 'generation'>): void {
    const refreshed = `${sessionId} ${generation}`;
    if (this.#emitted !== refreshed) this.hub.emit('refreshed', sessionId);
    this.#emitted = refreshed;
  }

  #emitEnd(sessionId: string, reason: SessionEndReason): void {
    this.#sessionId = null;
    this.hub.emit(reason, sessionId);
  }
}

/** Returns a key that identifies a token pair, independent of the other stored values. */
export function keyOf({ sessionId, generation, accessToken }: Tokens): string {
  return `${sessionId} ${generation} ${accessToken}`;
}

/** Returns whether the tokens are the same pair. */
export function isSamePair(one: Tokens, other: Tokens): boolean {
  return keyOf(one) === keyOf(other);
}
