import type { ClientClock } from 'nestjs-session-auth-client';

/** A simulated clock. It does not move until it is advanced, and then jumps from timer to timer. */
export class DrivenTime {
  private at = Date.UTC(2026, 0, 15, 10, 23);
  private timers: { readonly at: number; readonly run: () => void }[] = [];

  now(): number {
    return this.at;
  }

  /** Calls `run` after this many milliseconds, or immediately for 0. */
  after = (milliseconds: number, run: () => void): void => {
    if (milliseconds <= 0) run();
    else this.timers.push({ at: this.at + milliseconds, run });
  };

  wait: ClientClock['wait'] = (milliseconds, signal) =>
    new Promise((resolve) => {
      this.after(milliseconds, resolve);
      signal?.addEventListener('abort', () => resolve());
    });

  /** Sets the clock forward or back without running timers. */
  set(at: number): void {
    const step = at - this.at;
    this.at = at;
    this.timers = this.timers.map((timer) => ({ ...timer, at: timer.at + step }));
  }

  async run(milliseconds: number): Promise<void> {
    const end = this.at + milliseconds;
    for (;;) {
      await idle();
      const [next] = this.timers.sort((one, other) => one.at - other.at);
      if (!next || next.at > end) break;
      this.timers.shift();
      this.at = next.at;
      next.run();
    }
    this.at = end;
  }

  async until<T>(promise: Promise<T>): Promise<T> {
    let isDone = false;
    const watched = promise.finally(() => (isDone = true));
    watched.catch(() => undefined);
    for (let passed = 0; passed < 300_000; passed += 10) {
      await this.run(passed === 0 ? 0 : 10);
      if (isDone) return watched;
    }
    throw new Error('The promise was never settled.');
  }
}

async function idle(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
}
