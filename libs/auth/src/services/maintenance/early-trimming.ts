import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { BackgroundTask } from './background-task';
import { PruningService } from './pruning.service';

/** How soon a user who has had many events is trimmed. */
const INTERVAL_MS = 1_000;

/**
 * Trims users between two prunings as soon as this process has written many events for them: otherwise a client that
 * refreshes in a loop, or logs in and out, would fill the tables for an hour. Its timer belongs to no request, so that it
 * does not take part in a transaction of the application.
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
