import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { BackgroundTask } from '../base/background-task';
import { Clock } from '../base/clock';
import { Random } from '../base/random';
import { measureDuration, Metrics, type PruneKind } from '../base/telemetry';
import { EventLog } from '../history/event-log';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import { EndSessions } from '../sessions/end-sessions';
import { Prune, type PruneCounts } from './prune';

/**
 * Ends sessions that are no longer valid, and removes rows that are no longer needed, in small batches. Pruning can run
 * during normal traffic, and on any number of instances at the same time. Ended sessions are kept as long as the
 * history, because each login is compared with earlier sessions to detect a new device.
 *
 * Runs every `pruneIntervalSeconds`, unless the option is false, and after every 100,000 events that this instance has
 * written.
 */
@Injectable()
export class PruningService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly intervalMs: number | null;
  private readonly task: BackgroundTask;
  private readonly running = new Set<Promise<unknown>>();
  private stopped = false;
  private runs: PruningService['lastRuns'] = { succeededAt: null, failedAt: null };

  /** @internal */
  constructor(
    @Inject(AUTH_OPTIONS) { pruneIntervalSeconds }: ResolvedAuthOptions,
    private readonly pruning: Prune,
    private readonly endSessions: EndSessions,
    private readonly clock: Clock,
    private readonly events: EventLog,
    private readonly metrics: Metrics,
    private readonly random: Random,
  ) {
    this.intervalMs = pruneIntervalSeconds === false ? null : pruneIntervalSeconds * 1000;
    this.task = new BackgroundTask('pruning', this.intervalMs ?? 0, () => this.prune());
  }

  /** Schedules the first run at a random time, because instances that start together need not prune at the same time. */
  onApplicationBootstrap(): void {
    this.events.onGrowth = () => this.task.runSoon();
    if (this.intervalMs !== null) this.task.start((this.intervalMs * this.random.bytes(1)[0]!) / 256);
  }

  /** When pruning last succeeded and last failed in this process. Dry runs do not count. */
  get lastRuns(): { readonly succeededAt: Date | null; readonly failedAt: Date | null } {
    return this.runs;
  }

  /**
   * Ends sessions that have expired or, without a custom `UserStore`, whose user is not active, and removes rows that are
   * no longer needed. A run may leave some of them to a later run. With `dryRun` (default: false), only counts.
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
    this.stopped = true;
    await Promise.allSettled([this.task.stop(), ...this.running]);
  }

  private async pruneAndRecordTime(): Promise<PruneCounts> {
    try {
      const done = await measureDuration(this.metrics, 'session_auth.prune.duration', () => this.pruneAll());
      // A run that the shutdown stopped may not have pruned everything.
      if (!this.stopped) this.runs = { ...this.runs, succeededAt: new Date(this.clock.now()) };
      return done;
    } catch (error) {
      this.runs = { ...this.runs, failedAt: new Date(this.clock.now()) };
      throw error;
    }
  }

  private async pruneAll(): Promise<PruneCounts> {
    const total = { endedSessions: 0, sessions: 0, events: 0, loginFailures: 0, loginTickets: 0, passwordResets: 0 };
    for await (const { counts, ended } of this.pruning.run(this.clock.now())) {
      this.endSessions.publish(ended, null);
      for (const [kind, rows] of Object.entries(counts) as [keyof PruneCounts, number][]) {
        total[kind] += rows;
        this.metrics.count('session_auth.prune.rows', rows, { 'session_auth.prune.kind': KINDS[kind] });
      }
      if (this.stopped) break;
      await yieldToEventLoop();
    }
    return total;
  }
}

/** The result of pruning. In a dry run, each number estimates how many rows pruning would end or remove. */
export interface PruneReport {
  readonly dryRun: boolean;
  /**
   * The number of active sessions that pruning ended because they had expired, or because their user is disabled or
   * deleted. With a custom `UserStore`, pruning ends only expired sessions.
   */
  readonly endedSessions: number;
  /**
   * The number of ended sessions that pruning removed, either because their login is older than `history.retentionDays`,
   * or because their user has more than 1,000 ended sessions. A dry run does not count the sessions above this maximum.
   */
  readonly sessions: number;
  /**
   * The number of events that pruning removed, either because they are older than `history.retentionDays`, or because
   * their user has more than `history.maxRowsPerUser` events. The maximum for all unknown names together is 10,000.
   */
  readonly events: number;
  /** The number of expired failure streaks that pruning removed. */
  readonly loginFailures: number;
  /** The number of expired login tickets that pruning removed. */
  readonly loginTickets: number;
  /** The number of expired password reset tokens that pruning removed. */
  readonly passwordResets: number;
}

/** The value of the metric attribute `session_auth.prune.kind` for each number of the report. */
const KINDS: Readonly<Record<keyof PruneCounts, PruneKind>> = {
  endedSessions: 'ended_sessions',
  sessions: 'sessions',
  events: 'events',
  loginFailures: 'login_failures',
  loginTickets: 'login_tickets',
  passwordResets: 'password_resets',
};
