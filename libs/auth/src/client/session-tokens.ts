import type { Tokens } from './token-storage.js';
import type { TokenPair } from './wire.js';

/** Makes the tokens that are kept of those that the server gives. */
export class SessionTokens {
  constructor(private readonly accessTtlMs: number | null) {}

  /** @param sentAt when they were asked for: the server gave them out no earlier */
  opened(sessionId: string, pair: TokenPair, sentAt: number): Tokens {
    return this.tokens(sessionId, 0, pair, sentAt);
  }

  /** The successor of others. */
  grown(from: Tokens, pair: TokenPair, sentAt: number): Tokens {
    return this.tokens(from.sessionId, from.generation + 1, pair, sentAt);
  }

  private tokens(sessionId: string, generation: number, pair: TokenPair, sentAt: number): Tokens {
    const accessExpiresAt = this.accessTtlMs === null ? null : sentAt + this.accessTtlMs;
    return { ...pair, sessionId, generation, accessExpiresAt, sentAt: null };
  }
}
