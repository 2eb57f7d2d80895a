import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { BackgroundTask } from '../base/background-task';
import { PruningService } from './pruning.service';

/** The interval between the checks for users with many new events. */
const INTERVAL_MS = 1_000;

/**
 * Removes the surplus rows of a user, or of all unknown names, between two pruning runs if this process has
 * written many events for them. Otherwise a client that refreshes, or logs in and out, in a loop could fill
 * the tables before the next pruning run. A timer starts the trimming outside any request, so that
 * it does not take part in the application's transaction.
 */
@Injectable()
export class EarlyTrimming implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly task: BackgroundTask;

  constructor(pruning: PruningService) {
    this.task = new BackgroundTask('trimming', INTERVAL_MS, () => pruning.trimGrown());
  }

  onApplicationBootstrap(): void {
    this.task.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.task.stop();
  }
}
