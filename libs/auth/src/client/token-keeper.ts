import type { ClientEnvironment } from './environment.js';
import type { EndEvent, EventHub } from './events.js';
import { channelFor, type TabChannel, type TabMessage } from './tab-channel.js';
import { isTokens, type TokenStorage, type Tokens } from './token-storage.js';

const ASK_FOR_MS = 1_000;
const LOOK_EVERY_MS = 50;

/** The tokens as the storage has them, and what becomes of them, told to this tab and to the others. */
export class TokenKeeper {
  private readonly channel: TabChannel;
  /** The session that this tab was in last, until its end was told. */
  private sessionId: string | null = null;
  /** The access token of the pair that was told last. */
  private told: string | null = null;

  constructor(
    private readonly storage: TokenStorage,
    name: string,
    private readonly world: ClientEnvironment,
    private readonly hub: EventHub,
  ) {
    this.channel = channelFor(storage, name, world, (message) => {
      // A storage that fails fails again where somebody waits for it.
      this.hear(message).catch(() => undefined);
    });
    // So that the end of a session is told to a page that has not asked for anything yet.
    this.read().catch(() => undefined);
  }

  async read(): Promise<Tokens | null> {
    const tokens = await this.storage.read();
    if (!isTokens(tokens)) return null;
    this.sessionId = tokens.sessionId;
    return tokens;
  }

  /** Without a word to anybody. */
  async write(tokens: Tokens): Promise<void> {
    await this.storage.write(tokens);
    this.sessionId = tokens.sessionId;
  }

  async renew(tokens: Tokens): Promise<void> {
    await this.write(tokens);
    this.channel.post({ kind: 'renewed', tokens });
    this.tellRefreshed(tokens);
  }

  async end({ sessionId }: Tokens, event: EndEvent): Promise<void> {
    await this.storage.write(null);
    this.channel.post({ kind: 'ended', sessionId, event });
    this.tellEnd(sessionId, event);
  }

  /** Gives another tab time to hand over what came after these tokens; then what there is. */
  async askAfter(tokens: Tokens): Promise<Tokens | null> {
    const { sessionId, generation } = tokens;
    let found: Tokens | null = tokens;
    if (this.storage.reach === 'client') return found;
    this.channel.post({ kind: 'wanted', sessionId, generation });
    for (let waited = 0; waited < ASK_FOR_MS && found && isSame(found, tokens); waited += LOOK_EVERY_MS) {
      await this.world.clock.wait(LOOK_EVERY_MS);
      found = await this.read();
    }
    return found;
  }

  close(): void {
    this.channel.close();
  }

  private async hear(message: TabMessage): Promise<void> {
    const own = await this.read();
    if (message.kind === 'ended') {
      if (this.storage.reach === 'tab' && own?.sessionId === message.sessionId) await this.storage.write(null);
      if (this.sessionId === message.sessionId) this.tellEnd(message.sessionId, message.event);
    } else if (message.kind === 'wanted') {
      if (own?.sessionId !== message.sessionId || own.generation <= message.generation) return;
      this.channel.post({ kind: 'renewed', tokens: own });
    } else if (own?.sessionId === message.tokens.sessionId) {
      // A storage of all tabs has them already, or newer ones.
      const isOfAll = this.storage.reach === 'origin';
      if (!isOfAll && own.generation >= message.tokens.generation) return;
      if (!isOfAll) await this.write(message.tokens);
      this.tellRefreshed(message.tokens);
    }
  }

  private tellRefreshed({ accessToken, sessionId }: Tokens): void {
    if (this.told !== accessToken) this.hub.tell('refreshed', { sessionId });
    this.told = accessToken;
  }

  private tellEnd(sessionId: string, event: EndEvent): void {
    this.sessionId = null;
    this.hub.tell(event, { sessionId });
  }
}

/** Whether these are the same pair: what is known of it besides may differ. */
export function isSame(one: Tokens, other: Tokens): boolean {
  return one.accessToken === other.accessToken;
}
