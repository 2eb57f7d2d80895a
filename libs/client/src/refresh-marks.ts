import type { WebStorage } from './environment.js';
import type { Settings } from './options.js';
import type { TokenKeeper } from './token-keeper.js';
import type { Tokens } from './token-storage.js';
import { parseJson, recordOf } from './wire.js';

/**
 * Records which refresh tokens may have been sent. The mark is written before the token is sent, so
 * that no other tab, and no page after a reload, sends it unknowingly.
 */
export interface RefreshMarks {
  /** Since when this refresh token may have been sent, or null. `-Infinity`: a newer one was sent since. */
  sentAt(tokens: Tokens): number | null;
  set(tokens: Tokens, sentAt: number | null): void | Promise<void>;
}

/** A duplicated tab has its own copy of the tokens, so a mark beside them would be seen by one tab alone. */
export function marksFor({ storage, name, environment }: Settings, keeper: TokenKeeper): RefreshMarks {
  const shared = environment.localStorage;
  if (storage.reach === 'tab' && shared) return marksOfSessions(shared, `${name}:sent`);
  return { sentAt: (tokens) => tokens.sentAt, set: (tokens, sentAt) => keeper.write({ ...tokens, sentAt }) };
}

/** The sessions of one browser with the latest refreshes. */
const MAX_SESSIONS = 50;

interface Mark {
  readonly sessionId: string;
  /** The tokens of this generation and of all earlier ones were sent. */
  readonly generation: number;
  readonly sentAt: number;
}

/** One mark per session, without any part of a token. */
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
