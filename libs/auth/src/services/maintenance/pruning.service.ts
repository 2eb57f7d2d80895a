import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Clock, Metrics } from '../../domain/ports/platform';
import { HistoryGrowth } from '../../domain/history-growth';
import type { PruneKind } from '../../domain/metrics';
import { type Prunable, PruningStore } from '../../domain/ports/maintenance';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../../options/auth-options';
import { BATCH_SIZE, MAX_EVENTS_WITHOUT_USER, Trimming } from './trimming';
import { measured } from './measured';
import { SessionLifecycle } from '../sessions/session-lifecycle';

/** What pruning did, or, on a dry run, would do. */
export interface PruneReport {
  readonly dryRun: boolean;
  /** Active sessions that ended: those that had expired, and those of users who are disabled or deleted. */
  readonly endedSessions: number;
  /**
   * Ended sessions that were removed: those with their login longer ago than `history.retentionDays`
   * and, unless on a dry run, those of one user beyond 1,000.
   */
  readonly sessions: number;
  /** Events older than `history.retentionDays`, or beyond the number that is kept. */
  readonly events: number;
  /** Expired counts of failed logins. */
  readonly loginFailures: number;
  /** Expired login tickets. */
  readonly loginTickets: number;
  /** Expired password reset tokens. */
  readonly passwordResets: number;
}

/** What is pruned by age, as the metric names it. */
const KINDS: Readonly<Record<Prunable, PruneKind>> = {
  events: 'events',
  loginFailures: 'login_failures',
  loginTickets: 'login_tickets',
  passwordResets: 'password_resets',
};

const DAY_MS = 86_400_000;

/** When a pruning last finished, and when one last failed. */
interface LastRuns {
  readonly succeededAt: Date | null;
  readonly failedAt: Date | null;
}

/**
 * Removes what is no longer needed: in small batches, beside live traffic, on any number of instances at once.
 * An ended session stays as long as the history: a login is compared with it to recognise a new device.
 */
@Injectable()
export class PruningService implements BeforeApplicationShutdown {
  private readonly running = new Set<Promise<unknown>>();
  private readonly trimming: Trimming;
  private stopped = false;
  private runs: LastRuns = { succeededAt: null, failedAt: null };

  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    private readonly clock: Clock,
    private readonly store: PruningStore,
    private readonly lifecycle: SessionLifecycle,
    private readonly metrics: Metrics,
    private readonly growth: HistoryGrowth,
  ) {
    const counted = (kind: 'events' | 'sessions', rows: number): number => this.counted(kind, rows);
    this.trimming = new Trimming(store, options.history.maxRowsPerUser, counted, () => this.stopped);
  }

  /** When a pruning of this process last finished, and when one last failed; dry runs do not count. */
  get lastRuns(): LastRuns {
    return this.runs;
  }

  /**
   * Prunes, or counts what there is to prune.
   * @throws AuthError `database_unavailable`; batches that are committed stay
   */
  async prune({ dryRun = false }: { readonly dryRun?: boolean } = {}): Promise<PruneReport> {
    const run = dryRun ? this.countAll() : this.remember();
    this.running.add(run);
    try {
      return { dryRun, ...(await run) };
    } finally {
      this.running.delete(run);
    }
  }

  /** Trims the users who have had many events since they were last trimmed. `EarlyTrimming` calls it. */
  async trimGrown(): Promise<void> {
    const owners = this.growth.takeDue();
    if (owners.length === 0) return;
    const run = this.trimming.trimEach(owners);
    this.running.add(run);
    await run.finally(() => this.running.delete(run));
  }

  /** Starts no further batch; resolves when the current one is done. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    await Promise.allSettled(this.running);
  }

  /** Prunes, and remembers how that ended. */
  private async remember(): Promise<Omit<PruneReport, 'dryRun'>> {
    try {
      const done = await measured(this.metrics, 'session_auth.prune.duration', () => this.removeAll());
      // A run that was stopped has not finished.
      if (!this.stopped) this.runs = { ...this.runs, succeededAt: new Date(this.clock.now()) };
      return done;
    } catch (error) {
      this.runs = { ...this.runs, failedAt: new Date(this.clock.now()) };
      throw error;
    }
  }

  private async removeAll(): Promise<Omit<PruneReport, 'dryRun'>> {
    const now = this.clock.now();
    const before = this.instants(now);
    const remove = (what: Prunable): Promise<number> =>
      this.inBatches(async () => this.counted(KINDS[what], await this.store.remove(what, before[what], BATCH_SIZE)));
    const { endedSessions, sessions } = await this.pruneSessions();
    const loginFailures = await remove('loginFailures');
    const loginTickets = await remove('loginTickets');
    const passwordResets = await remove('passwordResets');
    const events = await remove('events');
    // Last, and one user after the other: a history that cannot be trimmed must not keep anything else from being pruned.
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
    const before = this.instants(now);
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
    await this.inBatches(async () => {
      const { visited, removed, ended } = await this.store.pruneSessions(context, BATCH_SIZE);
      this.lifecycle.publishSessionEnded(ended);
      total.endedSessions += this.counted('ended_sessions', ended.length);
      total.sessions += this.counted('sessions', removed);
      return visited;
    });
    return total;
  }

  /** Batch after batch until one is not full, with a turn of the event loop between them. */
  private async inBatches(batch: () => Promise<number>): Promise<number> {
    let total = 0;
    while (!this.stopped) {
      const size = await batch();
      total += size;
      if (size < BATCH_SIZE) break;
      await yieldToEventLoop();
    }
    return total;
  }

  private counted(kind: PruneKind, rows: number): number {
    this.metrics.count('session_auth.prune.rows', rows, { 'session_auth.prune.kind': kind });
    return rows;
  }

  /** The instant before which rows of each kind are removed. */
  private instants(now: number): Readonly<Record<Prunable, number>> {
    const retentionMs = this.options.history.retentionDays * DAY_MS;
    return { events: now - retentionMs, loginFailures: now, loginTickets: now, passwordResets: now };
  }
}
