import type { Group, Refresher } from './storm-clients';

/** What an application and its clients have seen. */
export interface GroupFigures {
  readonly name: Group['name'];
  readonly refreshes: number;
  /** Clients whose own repetition was taken for reuse, which ended their sessions. */
  readonly falseAlarms: readonly string[];
  readonly lost: readonly string[];
  readonly wrong: readonly string[];
  /** 503s while the fault lasted, and after it. */
  readonly unavailable: { readonly during: number; readonly after: number };
  /** Milliseconds from the end of the fault until a first client was served, and until each was; null for never. */
  readonly served: { readonly first: number | null; readonly all: number | null };
}

export interface StormFigures {
  readonly faultMs: number;
  readonly groups: readonly GroupFigures[];
  /** What is wrong in the tables. */
  readonly violations: readonly string[];
  /** How many signals of each name the instances have emitted. */
  readonly signals: ReadonlyMap<string, number>;
}

/** @param alarmed names of users for whom reuse was recorded */
export function figuresOf(
  { name, journal }: Group,
  refreshers: readonly Refresher[],
  alarmed: readonly string[],
  healedAt: number,
): GroupFigures {
  const after = journal.unavailable.filter((at) => at >= healedAt).length;
  const served = refreshers.map((one) => one.servedSince(healedAt));
  return {
    name,
    refreshes: journal.refreshes,
    falseAlarms: alarmed,
    lost: journal.lost,
    wrong: journal.wrong,
    unavailable: { during: journal.unavailable.length - after, after },
    served: {
      first: served.some(({ length }) => length > 0) ? Math.min(...served.flat()) - healedAt : null,
      all: served.every(({ length }) => length > 0) ? Math.max(...served.map(([first]) => first!)) - healedAt : null,
    },
  };
}
