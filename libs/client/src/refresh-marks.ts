import type { WebStorage } from './environment.js';
import type { Settings } from './options.js';
import type { TokenKeeper } from './token-keeper.js';
import type { Tokens } from './token-storage.js';
import { parseJson, recordOf } from './wire.js';

/**
 * Records which refresh tokens may have been sent. The mark is written before the token is sent, so
 * that another tab, or the page after a reload, does not unknowingly send the token again.
 */
export interface RefreshMarks {
  /**
   * Returns the time at which this refresh token may first have been sent, null if it counts as unsent, or
   * `-Infinity` if a newer token of the session may have been sent.
   */
  sentAt(tokens: Tokens): number | null;
  /** Stores the time at which this refresh token is first sent, or null if the server has not used it. */
  set(tokens: Tokens, sentAt: number | null): void | Promise<void>;
}

/**
 * Returns the marks for a storage. With `sessionStorage`, a duplicated tab has its own copy of the tokens, so
 * the marks are stored in `localStorage`, if available, where both tabs see them.
 */
export function marksFor({ storage, name, environment }: Settings, keeper: TokenKeeper): RefreshMarks {
  const shared = environment.localStorage;
  if (storage.reach === 'tab' && shared) return marksOfSessions(shared, `${name}:sent`);
  return { sentAt: (tokens) => tokens.sentAt, set: (tokens, sentAt) => keeper.write({ ...tokens, sentAt }) };
}

/** The maximum number of sessions with a mark. The marks that were written last are kept. */
const MAX_SESSIONS = 50;

interface Mark {
  readonly sessionId: string;
  /** The tokens of this generation and of all earlier generations may have been sent. */
  readonly generation: number;
  readonly sentAt: number;
}

/** Returns marks in `localStorage`, one for each session. A mark contains no part of a token. */
function marksOfSessions(storage: WebStorage, key: string): RefreshMarks {
  const read = (): Mark[] => {
    const stored = parseJson(storage.getItem(key));
    return Array.isArray(stored) ? stored.filter(isMark) : [];
  };
  return {
    sentAt({ sessionId, generation }) {
      const mark = read().find((one) => one.sessionId === sessionId);
      if (!mark || mark.generation < generation) return null;
      return mark.generation === generation ? mark.sentAt : -Infinity;
    },
    set({ sessionId, generation }, sentAt) {
      const others = read().filter((one) => one.sessionId !== sessionId);
      const mark = { sessionId, generation: sentAt === null ? generation - 1 : generation, sentAt: sentAt ?? 0 };
      storage.setItem(key, JSON.stringify([mark, ...others].slice(0, MAX_SESSIONS)));
    },
  };
}

function isMark(value: unknown): value is Mark {
  const { sessionId, generation, sentAt } = recordOf(value);
  return typeof sessionId === 'string' && typeof generation === 'number' && typeof sentAt === 'number';
}
