import type { ClientEventName, EventHub, SessionEndReason } from './events.js';
import type { Settings } from './options.js';
import { openChannel, type TabChannel, type TabMessage } from './tab-channel.js';
import { isSomebody, isTokens, NOBODY, type Tokens } from './token-storage.js';
import type { TokenPair } from './wire.js';

/** Reads and writes the stored tokens, and reports their changes to this tab and to the others. */
export class TokenKeeper {
  readonly #channel: TabChannel;
  /** The last session of this tab, until its end is emitted. */
  #sessionId: string | null = null;
  /** The tokens of the last `refreshed` event. */
  #emitted: string | null = null;
  /** Is called with the tokens of a copied tab when the other tab has refreshed them. */
  onSuperseded: (tokens: Tokens) => void = () => undefined;

  constructor(
    private readonly settings: Settings,
    private readonly hub: EventHub,
  ) {
    // A storage that fails here fails again where a caller awaits it.
    this.#channel = openChannel(settings, (message) => void this.#receive(message).catch(() => undefined));
    // A page that has sent no request yet emits the end of its session too.
    this.read().catch(() => undefined);
  }

  async read(): Promise<Tokens | null> {
    const tokens = await this.settings.storage.read();
    if (!isTokens(tokens, this.settings.transport.usesCookies)) return null;
    if (isSomebody(tokens)) this.#sessionId = tokens.sessionId;
    return tokens;
  }

  /** Stores the tokens without an event. */
  async write(tokens: Tokens): Promise<void> {
    await this.settings.storage.write(tokens);
    if (isSomebody(tokens)) this.#sessionId = tokens.sessionId;
  }

  /** Stores the first pair of a session. @param sentAt when it was requested: the server issued it no earlier */
  open(sessionId: string, pair: TokenPair, sentAt: number): Promise<void> {
    return this.write(this.#tokens(sessionId, 0, pair, sentAt));
  }

  /** Stores the pair that replaces these tokens. */
  async renew({ sessionId, generation }: Tokens, pair: TokenPair, sentAt: number): Promise<Tokens> {
    const tokens = this.#tokens(sessionId, generation + 1, pair, sentAt);
    await this.write(tokens);
    this.#post('refreshed', tokens);
    this.#emitRefreshed(tokens);
    return tokens;
  }

  async end(tokens: Tokens, reason: SessionEndReason): Promise<void> {
    const { storage, transport } = this.settings;
    // Cookies stay in the browser, and must not be sent for a refresh any more: see `RefreshMarks`.
    const isInDoubt = transport.usesCookies && reason === 'signInNeeded';
    await storage.write(isInDoubt ? { ...NOBODY, sentAt: 0 } : null);
    if (!isSomebody(tokens)) return;
    this.#post(reason, tokens);
    this.#emitEnd(tokens.sessionId, reason);
  }

  close(): void {
    this.#channel.close();
  }

  /** Reports to the other tabs, if they can be reached: a closed channel and a full storage throw. */
  #post(event: ClientEventName, { sessionId, generation }: Tokens): void {
    try {
      this.#channel.post({ event, sessionId, generation });
    } catch {
      // The other tabs find what is stored.
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
      // All tabs share the storage that has these tokens, or a copied tab has to refresh its own.
      if (!isCopied) this.#emitRefreshed(message);
      else if (own.generation < generation) this.onSuperseded(own);
      return;
    }
    if (isCopied && own?.sessionId === sessionId) {
      // A copied tab that cannot continue does not end the session of the tab that can.
      if (event === 'signInNeeded' && own.generation > generation) return;
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

/** Identifies a pair, whatever else is stored with it. */
export function keyOf({ sessionId, generation, accessToken }: Tokens): string {
  return `${sessionId} ${generation} ${accessToken}`;
}

/** Whether these are the same pair. */
export function isSame(one: Tokens, other: Tokens): boolean {
  return keyOf(one) === keyOf(other);
}
