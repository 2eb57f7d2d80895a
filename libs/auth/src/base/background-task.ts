import { Logger } from '@nestjs/common';
import { toFailureReport } from './failures';

/** Runs work at an interval, from the end of one run to the start of the next. A failed run is logged. */
export class BackgroundTask {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private isActive = false;
  isStopped = false;

  constructor(
    private readonly name: string,
    private readonly intervalMs: number,
    private readonly work: () => Promise<unknown>,
  ) {}

  /** Schedules the runs, unless they are scheduled or `stop` was called. */
  start(firstInMs: number = this.intervalMs): void {
    if (this.isActive || this.isStopped) return;
    this.isActive = true;
    if (!this.running) this.schedule(firstInMs);
  }

  /** Runs the work now, unless a run is in progress. */
  runSoon(): void {
    if (this.running || this.isStopped) return;
    clearTimeout(this.timer);
    this.schedule(0);
  }

  pause(): void {
    this.isActive = false;
    clearTimeout(this.timer);
  }

  /** Stops the task permanently. Resolves when the current run has finished. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.pause();
    await this.running;
  }

  private schedule(delayMs: number): void {
    this.timer = setTimeout(() => void (this.running = this.run()), delayMs).unref();
  }

  private async run(): Promise<void> {
    try {
      await this.work();
    } catch (error) {
      const message = `The background task '${this.name}' failed. It runs again later. `;
      new Logger('AuthBackgroundTask').warn(message + toFailureReport(error).summary);
    }
    this.running = undefined;
    if (this.isActive) this.schedule(this.intervalMs);
  }
}
