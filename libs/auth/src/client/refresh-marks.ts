import type { WebStorage } from './environment.js';
import type { TokenKeeper } from './token-keeper.js';
import type { TokenStorage, Tokens } from './token-storage.js';
import { isRecord, parseJson } from './wire.js';

/**
 * Remembers which refresh tokens may have been sent. The mark is written before the token leaves, so that no other tab, and
 * no page after a reload, sends it without knowing.
 */
export interface RefreshMarks {
  /** Since when this refresh token may have been sent, or null. `-Infinity`: newer ones were sent since. */
  sentAt(tokens: Tokens): number | null;
  set(tokens: Tokens, sentAt: number | null): Promise<void>;
}

/** A copy of a tab has copies of its tokens, so a mark beside them would be seen by one of the two alone. */
export function marksFor(
  { reach }: TokenStorage,
  name: string,
  keeper: TokenKeeper,
  shared: WebStorage | null,
): RefreshMarks {
  return reach === 'tab' && shared ? new MarksOfSessions(shared, `${name}:sent`) : besideTokens(keeper);
}

function besideTokens(keeper: TokenKeeper): RefreshMarks {
  return {
    sentAt: (tokens) => tokens.sentAt,
    set: (tokens, sentAt) => keeper.write({ ...tokens, sentAt }),
  };
}

/** As many sessions of one browser are remembered, those with the latest refresh. */
const SESSIONS = 50;

interface Mark {
  readonly sessionId: string;
  /** The tokens of this generation and of all before it were sent. */
  readonly generation: number;
  readonly sentAt: number;
}

/** One mark for each session, without anything of a token. */
class MarksOfSessions implements RefreshMarks {
  constructor(
    private readonly storage: WebStorage,
    private readonly key: string,
  ) {}

  sentAt({ sessionId, generation }: Tokens): number | null {
    const mark = this.read().find((one) => one.sessionId === sessionId);
    if (!mark || mark.generation < generation) return null;
    return mark.generation === generation ? mark.sentAt : -Infinity;
  }

  set({ sessionId, generation }: Tokens, sentAt: number | null): Promise<void> {
    const others = this.read().filter((one) => one.sessionId !== sessionId);
    const mark =
      sentAt === null ? { sessionId, generation: generation - 1, sentAt: 0 } : { sessionId, generation, sentAt };
    this.storage.setItem(this.key, JSON.stringify([mark, ...others].slice(0, SESSIONS)));
    return Promise.resolve();
  }

  private read(): Mark[] {
    const stored = parseJson(this.storage.getItem(this.key));
    return Array.isArray(stored) ? stored.filter(isMark) : [];
  }
}

function isMark(value: unknown): value is Mark {
  return (
    isRecord(value) &&
    typeof value['sessionId'] === 'string' &&
    typeof value['generation'] === 'number' &&
    typeof value['sentAt'] === 'number'
  );
}
