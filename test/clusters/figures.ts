import type { Group, RefreshingClient } from './storm-clients';

/** The results of an application and its clients. */
export interface GroupFigures {
  readonly name: Group['name'];
  readonly refreshes: number;
  /**
   * Users whose sessions the server ended because it treated a request that was repeated after a lost response as
   * reuse.
   */
  readonly falseAlarms: readonly string[];
  readonly lost: readonly string[];
  readonly wrong: readonly string[];
  /** The number of 503s during the fault and after it. */
  readonly unavailable: { readonly during: number; readonly after: number };
  /**
   * Milliseconds from the end of the fault until the first client was served, and until every client was served.
   * Null if this did not happen.
   */
  readonly served: { readonly first: number | null; readonly all: number | null };
}

export interface StormFigures {
  readonly faultMs: number;
  readonly groups: readonly GroupFigures[];
  /** Inconsistencies in the tables. */
  readonly violations: readonly string[];
  /** The number of signals that the instances emitted, by name. */
  readonly signals: ReadonlyMap<string, number>;
}

/** @param alarmed names of users for whom reuse was recorded */
export function figuresOf(
  { name, journal }: Group,
  refreshers: readonly RefreshingClient[],
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
