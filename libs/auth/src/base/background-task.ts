import { Logger } from '@nestjs/common';
import { toFailureReport } from './failures';

/**
 * Runs work at an interval, measured from the end of one run to the start of the next. Runs never overlap. A failed run
 * is logged and does not stop later runs. The timer does not keep the process alive.
 */
export class BackgroundTask {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private isActive = false;
  private isStopped = false;

  constructor(
    private readonly name: string,
    private readonly intervalMs: number,
    private readonly work: () => Promise<unknown>,
  ) {}

  /**
   * Schedules the runs. Has no effect if runs are already scheduled, or after `stop`.
   * @param firstInMs the delay of the first run, unless a run is still in progress. Default: the interval
   */
  start(firstInMs: number = this.intervalMs): void {
    if (this.isActive || this.isStopped) return;
    this.isActive = true;
    if (!this.running) this.schedule(firstInMs);
  }

  /** Runs the work now, unless a run is in progress. The interval begins anew. */
  runSoon(): void {
    if (this.running || this.isStopped) return;
    clearTimeout(this.timer);
    this.schedule(0);
  }

  /** Schedules no further run until `start` is called. */
  pause(): void {
    this.isActive = false;
    clearTimeout(this.timer);
  }

  /** Stops the task permanently, and resolves when the current run has finished. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.pause();
    await this.running;
  }

  private schedule(delayMs: number): void {
    this.timer = setTimeout(() => {
      this.running = this.run();
    }, delayMs).unref();
  }

  private async run(): Promise<void> {
    try {
      await this.work();
    } catch (error) {
      const { summary } = toFailureReport(error);
      new Logger('AuthBackgroundTask').warn(
        `The background task '${this.name}' failed. It runs again later. ${summary}`,
      );
    }
    this.running = undefined;
    if (this.isActive) this.schedule(this.intervalMs);
  }
}
