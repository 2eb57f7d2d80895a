import type { RotateToken } from '../../domain/ports/sessions';
import type { RefreshableSession } from '../../domain/refresh-decision';
import type { StatementOptions } from '../database/database';
import type { TimeBudget } from '../database/deadline';

/** One call of `rotate`: its time budget, and whether the outcome of one of its statements is unknown. */
export class RotationCall {
  outcomeUnknown = false;

  constructor(readonly budget: TimeBudget) {}

  /**
   * Returns whether an earlier statement of this call may have rotated the token, and another call may
   * then have rotated the successor. This is possible only if the session was refreshed since this call
   * started. The start is moved back by the grace period, to allow for clock differences.
   */
  mayHaveRotated(
    { refreshedAt, generation }: RefreshableSession,
    { seed, now, graceMs, presented }: RotateToken,
  ): boolean {
    const isReplaced = generation > presented.generation + 1 && refreshedAt !== null && refreshedAt >= now - graceMs;
    return this.outcomeUnknown && seed !== null && isReplaced;
  }

  statementOptions(maxMs = Infinity): StatementOptions {
    const onUnknownOutcome = (): void => void (this.outcomeUnknown = true);
    return { withinMs: Math.min(maxMs, this.budget.remainingMs), onUnknownOutcome, retryUntilDeadline: true };
  }

  readOptions(): StatementOptions {
    return { withinMs: this.budget.remainingMs, retryUntilDeadline: true };
  }
}
