import { SEEN_WITHIN_MS, type Broadcast } from './environment.js';
import { SESSION_ENDS, type ClientEventName, type EventHub, type SessionEndReason } from './events.js';
import type { Settings } from './options.js';
import { hasSession, isTokens, NO_SESSION, type Tokens } from './token-storage.js';
import { recordOf, type TokenPair } from './wire.js';

/** Reads and writes the stored tokens, and notifies this tab and the other tabs of changes. */
export class TokenKeeper {
  /** The channel to the other tabs. Delivery is not guaranteed. */
  readonly #channel: Broadcast | undefined;
  /** The id of the session that this tab shows, null if there is none, or undefined before the first read. */
  #shown: string | null | undefined;
  /** The session that ended last. A write that this tab does not see yet must not show it again. */
  #ended: string | undefined;
  /** The session and the generation of the last `refreshed` event. */
  #emitted: string | undefined;
  /** Called with this tab's own copy of the tokens when another tab has newer tokens of the session. */
  onSuperseded: (tokens: Tokens) => void = () => undefined;

  constructor(
    private readonly settings: Settings,
    private readonly hub: EventHub,
  ) {
    const { openBroadcast } = settings.environment;
    if (settings.storage.reach !== 'client' && openBroadcast) {
      this.#channel = openBroadcast(settings.name);
      // Ignores errors of the storage here, because a later call reports them to its caller.
      this.#channel.onmessage = ({ data }) => isMessage(data) && void this.#receive(data).catch(() => undefined);
    }
    // Reads the id of the session, so that a page emits the end of its session even before its first request.
    this.read().catch(() => undefined);
  }

  /** The id of the session that this tab shows, or null if none is known. */
  get sessionId(): string | null {
    return this.#shown || null;
  }

  async read(): Promise<Tokens | null> {
    const tokens = await this.settings.storage.read();
    const isValid = isTokens(tokens, this.settings.transport.usesCookies);
    this.#notice(isValid && hasSession(tokens) ? tokens.sessionId : null);
    return isValid ? tokens : null;
  }

  /** Stores the tokens without an event. */
  async write(tokens: Tokens): Promise<void> {
    await this.settings.storage.write(tokens);
    if (hasSession(tokens)) this.#shown = tokens.sessionId;
  }

  /**
   * Stores a pair of a session. If the session is already stored, the pair renews it (see `renew`).
   * @param sentAt when the pair was requested, or passed to `adopt`
   * @param check runs when the session is stored, because the browser may send its cookies already. Rejects if the
   *   session cannot be used
   */
  async open(sessionId: string, pair: TokenPair, sentAt: number, check?: () => Promise<void>): Promise<unknown> {
    const own = await this.read();
    if (own?.sessionId === sessionId) return this.renew(own, pair, sentAt);
    const tokens = this.#tokens(sessionId, 0, pair, sentAt);
    await this.begin(tokens);
    try {
      await check?.();
    } catch (error) {
      await this.settings.storage.write(null);
      this.#shown = null;
      this.#post('signedOut', tokens);
      throw error;
    }
    return this.hub.emit('sessionChanged', sessionId);
  }

  /** Stores the first tokens of a session, and notifies the other tabs. */
  async begin(tokens: Tokens): Promise<void> {
    await this.write(tokens);
    this.#post('sessionChanged', tokens);
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
    this.#channel?.close();
  }

  /** Reports an event to the other tabs. Ignores the error of a closed channel. */
  #post(event: ClientEventName, { sessionId, generation }: Tokens): void {
    try {
      this.#channel?.postMessage({ event, sessionId, generation });
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
    const { storage, environment } = this.settings;
    // The message may arrive before the write that it reports.
    if (event === 'sessionChanged') await environment.clock.wait(SEEN_WITHIN_MS);
    const own = await this.read();
    const copied = storage.reach === 'tab' && own?.sessionId === sessionId ? own : null;
    if (event === 'refreshed') {
      // A duplicated tab must refresh its own tokens. Other tabs share the storage that has the new tokens.
      if (copied && copied.generation < generation) this.onSuperseded(copied);
      else if (!copied && own?.sessionId === sessionId) this.#emitRefreshed(message);
    } else if (event !== 'sessionChanged') {
      await this.#receiveEnd(message, event, copied);
    }
  }

  async #receiveEnd(
    { sessionId, generation }: TabMessage,
    event: SessionEndReason,
    copied: Tokens | null,
  ): Promise<void> {
    if (copied) {
      // A duplicated tab whose tokens are older must not end the session of a tab with newer tokens.
      if (event !== 'signedOut' && copied.generation > generation) return;
      await this.settings.storage.write(null);
    }
    if (this.#shown === sessionId) this.#emitEnd(sessionId, event);
  }

  #emitRefreshed({ sessionId, generation }: Pick<Tokens, 'sessionId' | 'generation'>): void {
    const refreshed = `${sessionId} ${generation}`;
    if (this.#emitted !== refreshed) this.hub.emit('refreshed', sessionId);
    this.#emitted = refreshed;
  }

  #emitEnd(sessionId: string, reason: SessionEndReason): void {
    this.#shown = null;
    this.#ended = sessionId;
    this.hub.emit(reason, sessionId);
  }

  /** Emits `sessionChanged` if another tab has stored another session. */
  #notice(stored: string | null): void {
    const shown = this.#shown;
    if (stored === null) this.#shown ??= null;
    if (stored === null || stored === shown || stored === (this.#ended || null)) return;
    this.#shown = stored;
    const isHeard = shown === undefined || this.hub.emit('sessionChanged', stored);
    // Without a listener, the page continues to show the former user, so its requests are refused (`session_changed`).
    if (shown && !isHeard) this.#shown = shown;
  }
}

/** Returns a key that identifies a token pair, independent of the other stored values. */
export function keyOf({ sessionId, generation, accessToken }: Tokens): string {
  return `${sessionId} ${generation} ${accessToken}`;
}

/** Returns whether the stored tokens are this pair. */
export function isSamePair(stored: Tokens | null, pair: Tokens): stored is Tokens {
  return stored !== null && keyOf(stored) === keyOf(pair);
}

/** A message to the other tabs. It contains no token: each tab reads its storage, or refreshes its own tokens. */
interface TabMessage {
  readonly event: ClientEventName;
  readonly sessionId: string;
  /** The generation of the new tokens, or of the last tokens of a session that has ended. */
  readonly generation: number;
}

const EVENTS: readonly unknown[] = ['refreshed', 'sessionChanged', ...SESSION_ENDS];

/** Returns whether the data is a message. Other tabs may run a different version of the client. */
function isMessage(data: unknown): data is TabMessage {
  return EVENTS.includes(recordOf(data)['event']);
}
