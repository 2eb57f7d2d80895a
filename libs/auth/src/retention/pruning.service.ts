import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { BackgroundTask } from '../base/background-task';
import { Clock } from '../base/clock';
import { CryptoSource } from '../base/random';
import { measureDuration, Metrics, type PruneKind } from '../base/telemetry';
import { HistoryGrowth } from '../history/event-log';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import { SessionLifecycle } from '../sessions/lifecycle';
import { BATCH_SIZE, MAX_EVENTS_WITHOUT_USER, type Prunable, PruningStore, Trimming } from './prune';

/**
 * Ends sessions that are no longer valid, and removes rows that are no longer needed, in small batches. Pruning can run
 * during normal traffic, and on any number of instances at the same time. Ended sessions are kept as long as the
 * history, because each login is compared with earlier sessions to detect a new device.
 */
@Injectable()
export class PruningService implements BeforeApplicationShutdown {
  private readonly running = new Set<Promise<unknown>>();
  private readonly trimming: Trimming;
  private stopped = false;
  private runs: LastRuns = { succeededAt: null, failedAt: null };

  /** @internal */
  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    private readonly clock: Clock,
    private readonly store: PruningStore,
    private readonly lifecycle: SessionLifecycle,
    private readonly metrics: Metrics,
    private readonly growth: HistoryGrowth,
  ) {
    const reportRows = (kind: 'events' | 'sessions', rows: number): number => this.reportRows(kind, rows);
    this.trimming = new Trimming(store, options.history.maxRowsPerUser, reportRows, () => this.stopped);
  }

  /** When pruning last succeeded and last failed in this process. Dry runs do not count. */
  get lastRuns(): LastRuns {
    return this.runs;
  }

  /**
   * Ends sessions that have expired or, without a custom `UserStore`, whose user is not active, and removes rows that
   * are no longer needed. A run may leave some of them to a later run. With `dryRun` (default: false), only counts.
   * @throws AuthError `database_unavailable`. Committed batches are not rolled back
   */
  async prune({ dryRun = false }: { readonly dryRun?: boolean } = {}): Promise<PruneReport> {
    const run = dryRun ? this.countAll() : this.pruneAndRecordTime();
    this.running.add(run);
    try {
      return { dryRun, ...(await run) };
    } finally {
      this.running.delete(run);
    }
  }

  /**
   * Removes the surplus rows of users, and of unknown names, for whom this process has recently written
   * `history.maxRowsPerUser` events, or 1,000 if that is less. Runs automatically about every second.
   * @throws AuthError `database_unavailable`. Committed batches are not rolled back
   */
  async trimGrown(): Promise<void> {
    const owners = this.growth.takeOwnersOverThreshold();
    if (owners.length === 0) return;
    const run = this.trimming.trimEach(owners);
    this.running.add(run);
    await run.finally(() => this.running.delete(run));
  }

  /** Starts no further batch, and resolves when the calls in progress have finished. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    await Promise.allSettled(this.running);
  }

  /** Prunes, and stores the time of the success or failure in `lastRuns`. */
  private async pruneAndRecordTime(): Promise<Omit<PruneReport, 'dryRun'>> {
    try {
      const done = await measureDuration(this.metrics, 'session_auth.prune.duration', () => this.removeAll());
      // A run that the shutdown stopped may not have pruned everything.
      if (!this.stopped) this.runs = { ...this.runs, succeededAt: new Date(this.clock.now()) };
      return done;
    } catch (error) {
      this.runs = { ...this.runs, failedAt: new Date(this.clock.now()) };
      throw error;
    }
  }

  private async removeAll(): Promise<Omit<PruneReport, 'dryRun'>> {
    const now = this.clock.now();
    const before = this.cutoffs(now);
    const remove = (what: Prunable): Promise<number> =>
      this.runInBatches(async () =>
        this.reportRows(KINDS[what], await this.store.remove(what, before[what], BATCH_SIZE)),
      );
    const { endedSessions, sessions } = await this.pruneSessions();
    const loginFailures = await remove('loginFailures');
    const loginTickets = await remove('loginTickets');
    const passwordResets = await remove('passwordResets');
    const events = await remove('events');
    // Trimming is the last step, because a history that cannot be trimmed must not block the other steps.
    const trimmed = await this.trimming.trimAll();
    return {
      endedSessions,
      sessions: sessions + trimmed.sessions,
      events: events + trimmed.events,
      loginFailures,
      loginTickets,
      passwordResets,
    };
  }

  private async countAll(): Promise<Omit<PruneReport, 'dryRun'>> {
    const { store } = this;
    const now = this.clock.now();
    const before = this.cutoffs(now);
    const caps = { perUser: this.options.history.maxRowsPerUser, withoutUser: MAX_EVENTS_WITHOUT_USER };
    const { toEnd, toRemove } = await store.countSessions(now);
    return {
      endedSessions: toEnd,
      sessions: toRemove,
      events: (await store.count('events', before.events)) + (await store.countOverCap(before.events, caps)),
      loginFailures: await store.count('loginFailures', before.loginFailures),
      loginTickets: await store.count('loginTickets', before.loginTickets),
      passwordResets: await store.count('passwordResets', before.passwordResets),
    };
  }

  private async pruneSessions(): Promise<Pick<PruneReport, 'endedSessions' | 'sessions'>> {
    const total = { endedSessions: 0, sessions: 0 };
    const context = this.lifecycle.operationContext({});
    await this.runInBatches(async () => {
      const { visited, removed, ended } = await this.store.pruneSessions(context, BATCH_SIZE);
      this.lifecycle.publishSessionEnded(ended);
      total.endedSessions += this.reportRows('ended_sessions', ended.length);
      total.sessions += this.reportRows('sessions', removed);
      return visited;
    });
    return total;
  }

  /** Runs batches until a batch is not full or the shutdown begins. Yields to the event loop between batches. */
  private async runInBatches(batch: () => Promise<number>): Promise<number> {
    let total = 0;
    while (!this.stopped) {
      const size = await batch();
      total += size;
      if (size < BATCH_SIZE) break;
      await yieldToEventLoop();
    }
    return total;
  }

  /** Adds the rows to the metric, and returns their number. */
  private reportRows(kind: PruneKind, rows: number): number {
    this.metrics.count('session_auth.prune.rows', rows, { 'session_auth.prune.kind': kind });
    return rows;
  }

  /** Returns, for each kind of row, the argument `before` of `PruningStore.remove`. */
  private cutoffs(now: number): Readonly<Record<Prunable, number>> {
    const retentionMs = this.options.history.retentionDays * DAY_MS;
    return { events: now - retentionMs, loginFailures: now, loginTickets: now, passwordResets: now };
  }
}

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

/** The result of pruning. In a dry run, each number estimates how many rows pruning would end or remove. */
export interface PruneReport {
  readonly dryRun: boolean;
  /**
   * The number of active sessions that pruning ended because they had expired, or because their
   * user is disabled or deleted. With a custom `UserStore`, pruning ends only expired sessions.
   */
  readonly endedSessions: number;
  /**
   * The number of ended sessions that pruning removed, either because their login is older than
   * `history.retentionDays`, or because their user has more than 1,000 ended sessions. A dry run does not count the
   * sessions above this maximum.
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

/** The value of the metric attribute `session_auth.prune.kind` for each kind of row. */
const KINDS: Readonly<Record<Prunable, PruneKind>> = {
  events: 'events',
  loginFailures: 'login_failures',
  loginTickets: 'login_tickets',
  passwordResets: 'password_resets',
};

const DAY_MS = 86_400_000;

/** When pruning last succeeded, and when it last failed. */
interface LastRuns {
  readonly succeededAt: Date | null;
  readonly failedAt: Date | null;
}
