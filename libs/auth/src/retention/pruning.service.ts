import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { BackgroundTask } from '../base/background-task';
import { Clock } from '../base/clock';
import { Random } from '../base/random';
import { Metrics, type PruneKind } from '../base/telemetry';
import { EventLog } from '../history/event-log';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import { Prune, type PruneCounts } from './prune';

/**
 * Ends sessions that are no longer valid, and removes rows that are no longer needed: every `pruneIntervalSeconds`, and
 * after every 100,000 events that this instance has written. Any number of instances can prune at the same time.
 */
@Injectable()
export class PruningService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly intervalMs: number | null;
  private readonly task: BackgroundTask;
  private readonly running = new Set<Promise<unknown>>();
  /** When pruning last succeeded and last failed in this process. Dry runs do not count. */
  lastRuns: Readonly<Record<'succeededAt' | 'failedAt', Date | null>> = { succeededAt: null, failedAt: null };

  /** @internal */
  constructor(
    @Inject(AUTH_OPTIONS) { pruneIntervalSeconds }: ResolvedAuthOptions,
    private readonly pruning: Prune,
    private readonly clock: Clock,
    private readonly events: EventLog,
    private readonly metrics: Metrics,
    private readonly random: Random,
  ) {
    this.intervalMs = pruneIntervalSeconds === false ? null : pruneIntervalSeconds * 1000;
    this.task = new BackgroundTask('pruning', this.intervalMs ?? 0, () => this.prune());
  }

  /** Schedules the first run at a random time, so that instances that start together do not prune together. */
  onApplicationBootstrap(): void {
    this.events.onGrowth = () => this.task.runSoon();
    if (this.intervalMs !== null) this.task.start((this.intervalMs * this.random.bytes(1)[0]!) / 256);
  }

  /**
   * Prunes now. With `dryRun` (default: false), only counts.
   * @throws AuthError `database_unavailable`. Committed batches are not rolled back
   */
  async prune({ dryRun = false }: { readonly dryRun?: boolean } = {}): Promise<PruneReport> {
    const run = dryRun ? this.pruning.count(this.clock.now()) : this.pruneAndRecordTime();
    this.running.add(run);
    try {
      return { dryRun, ...(await run) };
    } finally {
      this.running.delete(run);
    }
  }

  /** Starts no further batch, and resolves when the calls in progress have finished. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.allSettled([this.task.stop(), ...this.running]);
  }

  private async pruneAndRecordTime(): Promise<PruneCounts> {
    try {
      const done = await this.metrics.measure('session_auth.prune.duration', () => this.pruneAll());
      // A run that the shutdown stopped may not have pruned everything.
      if (!this.task.isStopped) this.lastRuns = { ...this.lastRuns, succeededAt: new Date(this.clock.now()) };
      return done;
    } catch (error) {
      this.lastRuns = { ...this.lastRuns, failedAt: new Date(this.clock.now()) };
      throw error;
    }
  }

  private async pruneAll(): Promise<PruneCounts> {
    const expired = { loginFailures: 0, loginTickets: 0, passwordResets: 0, apiKeys: 0 };
    const total = { endedSessions: 0, sessions: 0, events: 0, ...expired };
    for await (const counts of this.pruning.run(this.clock.now())) {
      for (const [kind, rows] of Object.entries(counts) as [keyof PruneCounts, number][]) {
        total[kind] += rows;
        const snakeCase = kind.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) as PruneKind;
        this.metrics.count('session_auth.prune.rows', rows, { 'session_auth.prune.kind': snakeCase });
      }
      if (this.task.isStopped) break;
      await yieldToEventLoop();
    }
    return total;
  }
}

/**
 * The numbers of rows that pruning ended or removed. In a dry run, estimates of what it would end or remove.
 * `docs/data-retention.md` describes each field.
 */
export interface PruneReport {
  readonly dryRun: boolean;
  /** Active sessions that were ended. */
  readonly endedSessions: number;
  /** Ended sessions that were removed. */
  readonly sessions: number;
  readonly events: number;
  readonly loginFailures: number;
  readonly loginTickets: number;
  readonly passwordResets: number;
  readonly apiKeys: number;
}
