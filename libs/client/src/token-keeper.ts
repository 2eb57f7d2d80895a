import type { EndEvent, EventHub } from './events.js';
import type { Settings } from './options.js';
import { openChannel, type TabChannel, type TabMessage } from './tab-channel.js';
import { isTokens, type Tokens } from './token-storage.js';
import type { TokenPair } from './wire.js';

const ASK_FOR_MS = 1_000;
const POLL_MS = 50;

/** Reads and writes the stored tokens, and reports their changes to this tab and to the others. */
export class TokenKeeper {
  private readonly channel: TabChannel;
  /** The last session of this tab, until its end is emitted. */
  private sessionId: string | null = null;
  /** The access token of the last `refreshed` event. */
  private emitted: string | null = null;

  constructor(
    private readonly settings: Settings,
    private readonly hub: EventHub,
  ) {
    // A storage that fails here fails again where a caller awaits it.
    this.channel = openChannel(settings, (message) => void this.receive(message).catch(() => undefined));
    // A page that has sent no request yet emits the end of its session too.
    this.read().catch(() => undefined);
  }

  async read(): Promise<Tokens | null> {
    const tokens = await this.settings.storage.read();
    if (!isTokens(tokens)) return null;
    this.sessionId = tokens.sessionId;
    return tokens;
  }

  /** Stores the tokens without an event. */
  async write(tokens: Tokens): Promise<void> {
    await this.settings.storage.write(tokens);
    this.sessionId = tokens.sessionId;
  }

  /** Stores the first pair of a session. @param sentAt when it was requested: the server issued it no earlier */
  open(sessionId: string, pair: TokenPair, sentAt: number): Promise<void> {
    return this.write(this.tokens(sessionId, 0, pair, sentAt));
  }

  /** Stores the pair that replaces these tokens. */
  async renew({ sessionId, generation }: Tokens, pair: TokenPair, sentAt: number): Promise<Tokens> {
    const tokens = this.tokens(sessionId, generation + 1, pair, sentAt);
    await this.write(tokens);
    this.channel.post({ kind: 'renewed', tokens });
    this.emitRefreshed(tokens);
    return tokens;
  }

  async end({ sessionId }: Tokens, event: EndEvent): Promise<void> {
    await this.settings.storage.write(null);
    this.channel.post({ kind: 'ended', sessionId, event });
    this.emitEnd(sessionId, event);
  }

  /** Asks the other tabs for the successors of these tokens, waits a while, and returns what is stored then. */
  async askAfter(tokens: Tokens): Promise<Tokens | null> {
    const { sessionId, generation } = tokens;
    const { storage, environment } = this.settings;
    let found: Tokens | null = tokens;
    if (storage.reach === 'client') return found;
    this.channel.post({ kind: 'wanted', sessionId, generation });
    for (let waited = 0; waited < ASK_FOR_MS && found && isSame(found, tokens); waited += POLL_MS) {
      await environment.clock.wait(POLL_MS);
      found = await this.read();
    }
    return found;
  }

  close(): void {
    this.channel.close();
  }

  private tokens(sessionId: string, generation: number, pair: TokenPair, sentAt: number): Tokens {
    const { accessTtlMs } = this.settings;
    return { ...pair, sessionId, generation, accessExpiresAt: accessTtlMs && sentAt + accessTtlMs, sentAt: null };
  }

  private async receive(message: TabMessage): Promise<void> {
    const { storage } = this.settings;
    const own = await this.read();
    if (message.kind === 'ended') {
      if (storage.reach === 'tab' && own?.sessionId === message.sessionId) await storage.write(null);
      if (this.sessionId === message.sessionId) this.emitEnd(message.sessionId, message.event);
    } else if (message.kind === 'wanted') {
      if (own?.sessionId !== message.sessionId || own.generation <= message.generation) return;
      this.channel.post({ kind: 'renewed', tokens: own });
    } else if (own?.sessionId === message.tokens.sessionId) {
      // A storage that all tabs share has these tokens already, or newer ones.
      if (storage.reach !== 'origin') {
        if (own.generation >= message.tokens.generation) return;
        await this.write(message.tokens);
      }
      this.emitRefreshed(message.tokens);
    }
  }

  private emitRefreshed({ accessToken, sessionId }: Tokens): void {
    if (this.emitted !== accessToken) this.hub.emit('refreshed', sessionId);
    this.emitted = accessToken;
  }

  private emitEnd(sessionId: string, event: EndEvent): void {
    this.sessionId = null;
    this.hub.emit(event, sessionId);
  }
}

/** Whether these are the same pair, whatever else is stored with it. */
export function isSame(one: Tokens, other: Tokens): boolean {
  return one.accessToken === other.accessToken;
}
