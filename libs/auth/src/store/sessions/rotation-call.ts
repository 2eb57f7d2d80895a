import type { RotateToken } from '../../domain/ports/sessions';
import type { RefreshableSession } from '../../domain/refresh-decision';
import type { StatementOptions } from '../database/database';
import type { TimeBudget } from '../database/deadline';

/** One call of `rotate`: its time, and whether a statement of it may have been done although its result was lost. */
export class RotationCall {
  outcomeUnknown = false;

  constructor(readonly budget: TimeBudget) {}

  /**
   * Whether an earlier statement of this call may have rotated the token, and another call the token after it. Then the
   * session was refreshed just now. The grace period allows for clocks that differ.
   */
  mayHaveRotated(
    { refreshedAt, generation }: RefreshableSession,
    { seed, now, graceMs, presented }: RotateToken,
  ): boolean {
    const isReplaced = generation > presented.generation + 1 && refreshedAt !== null && refreshedAt >= now - graceMs;
    return this.outcomeUnknown && seed !== null && isReplaced;
  }

  options(maxMs = Infinity): StatementOptions {
    const onUnknownOutcome = (): void => void (this.outcomeUnknown = true);
    return { withinMs: Math.min(maxMs, this.budget.remainingMs), onUnknownOutcome, retryUntilDeadline: true };
  }

  budgetOnly(): StatementOptions {
    return { withinMs: this.budget.remainingMs, retryUntilDeadline: true };
  }
}
