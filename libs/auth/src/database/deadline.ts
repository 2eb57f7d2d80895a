import { DatabaseFailure, isConnectionLost } from './failure';

/** The time that one or several statements of an operation share. */
export class TimeBudget {
  private readonly endsAt;

  constructor(milliseconds: number) {
    this.endsAt = performance.now() + milliseconds;
  }

  get remainingMs(): number {
    return this.endsAt - performance.now();
  }
}

/** The deadline of an operation. Much cheaper to create than an `AbortSignal`. */
export class Deadline extends TimeBudget {
  readonly listeners = new Set<() => void>();
  private readonly timer: NodeJS.Timeout;
  private isCommitting = false;
  hasPassed = false;

  constructor(
    milliseconds: number,
    private readonly onUnknownOutcome: () => void = () => undefined,
  ) {
    super(milliseconds);
    this.timer = setTimeout(() => {
      this.hasPassed = true;
      if (this.isCommitting) onUnknownOutcome();
      for (const listener of this.listeners) listener();
    }, milliseconds);
  }

  /** Sends a COMMIT, or a statement that commits itself. */
  async commit<T>(send: () => Promise<T>): Promise<T> {
    this.isCommitting = true;
    try {
      return await send();
    } catch (error) {
      if (isConnectionLost(error)) this.onUnknownOutcome();
      throw error;
    } finally {
      this.isCommitting = false;
    }
  }

  failIfPassed(): void {
    if (this.hasPassed) throw timeout();
  }

  /** Rejects if the deadline passes first. The work itself may continue until its next check of the deadline. */
  race<T>(work: Promise<T>): Promise<T> {
    const passed = new Promise<never>((_, reject) => this.listeners.add(() => reject(timeout())));
    return Promise.race([work, passed]);
  }

  clear(): void {
    clearTimeout(this.timer);
  }
}

function timeout(): DatabaseFailure {
  return new DatabaseFailure('TIMEOUT', 'The database did not answer in time.');
}
