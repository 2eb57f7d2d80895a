import { Logger } from '@nestjs/common';
import { reportFailure } from '../../domain/failure-report';

/**
 * Runs work at an interval, counted from the end of one run to the start of the next. Runs never overlap, and a failed
 * one is logged and followed by the next. The timer does not keep the process alive.
 */
export class BackgroundTask {
  private readonly logger = new Logger('AuthBackgroundTask');
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private isActive = false;
  private isStopped = false;

  constructor(
    private readonly name: string,
    private readonly intervalMs: number,
    private readonly work: () => Promise<unknown>,
  ) {}

  /** Schedules the runs, the first one after `firstInMs`; does nothing while they are scheduled, and after `stop`. */
  start(firstInMs: number = this.intervalMs): void {
    if (this.isActive || this.isStopped) return;
    this.isActive = true;
    if (!this.running) this.schedule(firstInMs);
  }

  /** Schedules no further run until `start`. */
  pause(): void {
    this.isActive = false;
    clearTimeout(this.timer);
  }

  /** Ends the task, which `start` does not resume; resolves when the current run has finished. */
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
      this.logger.warn(
        `The background task '${this.name}' failed and runs again later: ${reportFailure(error).summary}`,
      );
    }
    this.running = undefined;
    if (this.isActive) this.schedule(this.intervalMs);
  }
}
