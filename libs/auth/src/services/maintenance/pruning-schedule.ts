import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { CryptoSource } from '../../domain/ports/platform';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../../options/auth-options';
import { BackgroundTask } from './background-task';
import { PruningService } from './pruning.service';

/** Prunes every `pruneIntervalSeconds`, unless the option is false. */
@Injectable()
export class PruningSchedule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly intervalMs: number | null;
  private readonly task: BackgroundTask;

  constructor(
    @Inject(AUTH_OPTIONS) { pruneIntervalSeconds }: ResolvedAuthOptions,
    private readonly crypto: CryptoSource,
    pruning: PruningService,
  ) {
    this.intervalMs = pruneIntervalSeconds === false ? null : pruneIntervalSeconds * 1000;
    this.task = new BackgroundTask('pruning', this.intervalMs ?? 0, () => pruning.prune());
  }

  /**
   * Schedules the first run at a random time within the first interval, so that instances that start together are
   * unlikely to prune at the same time.
   */
  onApplicationBootstrap(): void {
    if (this.intervalMs === null) return;
    this.task.start((this.intervalMs * this.crypto.randomBytes(1)[0]!) / 256);
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.task.stop();
  }
}
