/** The maximum number of users whose events are counted. The users with the most recent events are kept. */
const MAX_COUNTED_OWNERS = 10_000;

/** The owner of events: the id of a user as text, or null for all unknown names together. */
export type EventOwner = string | null;

/**
 * Counts the events that this process writes for each user, so that a fast-growing history is trimmed before the next
 * pruning. Events that are rolled back also count, so trimming may start earlier than necessary. Beyond 10,000 users,
 * the counts of the least recently updated users are discarded.
 */
export class HistoryGrowth {
  /** The counts by owner, the least recently updated first. */
  private readonly counts = new Map<EventOwner, number>();
  private due = new Set<EventOwner>();

  /** @param threshold the number of events after which an owner is due for trimming */
  constructor(private readonly threshold: number) {}

  count(owner: EventOwner): void {
    const events = (this.counts.get(owner) ?? 0) + 1;
    this.counts.delete(owner);
    if (events >= this.threshold) return void this.due.add(owner);
    this.counts.set(owner, events);
    if (this.counts.size > MAX_COUNTED_OWNERS) this.counts.delete(this.counts.keys().next().value!);
  }

  /** Returns the owners whose events have reached the threshold since the last call. */
  takeOwnersOverThreshold(): readonly EventOwner[] {
    if (this.due.size === 0) return [];
    const due = [...this.due];
    this.due = new Set();
    return due;
  }
}
