/** Users whose events are counted: those who had one most recently. */
const MOST_COUNTED = 10_000;

/** Whose events: a user's, by the id as text, or those of unknown names (null). */
export type EventOwner = string | null;

/**
 * Counts the events that this process writes for each user, so that a history which grows fast is trimmed before the next
 * pruning. An event that is rolled back is counted as well: a user is then trimmed early, which removes nothing.
 */
export class HistoryGrowth {
  /** The least recently counted first. */
  private readonly counts = new Map<EventOwner, number>();
  private due = new Set<EventOwner>();

  /** @param threshold the number of events after which a user is due */
  constructor(private readonly threshold: number) {}

  count(owner: EventOwner): void {
    const events = (this.counts.get(owner) ?? 0) + 1;
    this.counts.delete(owner);
    if (events >= this.threshold) return void this.due.add(owner);
    this.counts.set(owner, events);
    if (this.counts.size > MOST_COUNTED) this.counts.delete(this.counts.keys().next().value!);
  }

  /** Returns whose events have reached the threshold since the last call. */
  takeDue(): readonly EventOwner[] {
    if (this.due.size === 0) return [];
    const due = [...this.due];
    this.due = new Set();
    return due;
  }
}
