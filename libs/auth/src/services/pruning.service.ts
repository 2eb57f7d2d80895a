import { Injectable, Logger } from '@nestjs/common';
import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../domain/ports/clock';
import type { CryptoSource } from '../domain/ports/crypto-source';
import type { Metrics } from '../domain/ports/metrics';
import type { PruneKind } from '../domain/metrics';
import type { Prunable, PruningStore } from '../domain/ports/pruning-store';
import type { ResolvedAuthOptions } from '../options/auth-options';
import { measured } from './measured';
import type { SessionNotices } from './session-notices';

/** What a clean-up did, or, on a dry run, would do. */
export interface PruneReport {
  readonly dryRun: boolean;
  /** Sessions whose time was over without anybody noticing: they are `expired` now, and `user_logged_out` was sent. */
  readonly expiredSessions: number;
  /** Answers kept for the grace period that were erased. */
  readonly sealedAnswers: number;
  /** Retired refresh tokens of families whose absolute end has passed. */
  readonly refreshTokens: number;
  /** Ended sessions whose login is older than the history goes back. */
  readonly sessions: number;
  /** Events older than `history.retentionDays`, or beyond the number that is kept. */
  readonly events: number;
  /** Counts of failed logins whose time is over. */
  readonly loginFailures: number;
  /** Tokens for new passwords whose time is over. */
  readonly passwordResets: number;
}

/** Rows of one batch, which is one short transaction. */
const BATCH = 500;

/** The most events that are kept of names that nobody has: what is typed there is anybody's choice. (ASVS 16.4) */
export const EVENTS_WITHOUT_USER = 10_000;

/** What is removed, as it is counted. */
const KINDS: Readonly<Record<Prunable, PruneKind>> = {
  refreshTokens: 'refresh_tokens',
  sessions: 'sessions',
  events: 'events',
  loginFailures: 'login_failures',
  passwordResets: 'password_resets',
};

const DAY_MS = 86_400_000;

/**
 * Removes what is no longer needed: in small batches, beside live traffic, on any number of instances at once.
 *
 * A used refresh token stays until the absolute end of its family, so that its reuse is noticed as long as there is anything
 * to protect. An ended session stays as long as the history goes back: a login is compared with it to tell a new device.
 */
@Injectable()
export class PruningService {
  private readonly logger = new Logger('AuthPruning');
  private readonly running = new Set<Promise<unknown>>();
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;
  private runs: { readonly succeededAt: Date | null; readonly failedAt: Date | null } = {
    succeededAt: null,
    failedAt: null,
  };

  constructor(
    private readonly options: ResolvedAuthOptions,
    private readonly clock: Clock,
    private readonly crypto: CryptoSource,
    private readonly store: PruningStore,
    private readonly notices: SessionNotices,
    private readonly metrics: Metrics,
  ) {}

  /** When a clean-up of this process last came to its end, and when one last failed; dry runs do not count. */
  get lastRuns(): { readonly succeededAt: Date | null; readonly failedAt: Date | null } {
    return this.runs;
  }

  /**
   * Cleans up, or counts what there is to clean up.
   * @throws AuthError `database_unavailable`; what was done until then stays done
   */
  async prune({ dryRun = false }: { readonly dryRun?: boolean } = {}): Promise<PruneReport> {
    const run = dryRun ? this.countAll() : this.remember(this.clean());
    this.running.add(run);
    try {
      return { dryRun, ...(await run) };
    } finally {
      this.running.delete(run);
    }
  }

  /** Runs it every `pruneIntervalSeconds`, unless that is false. It keeps no process alive. */
  start(): void {
    const { pruneIntervalSeconds } = this.options;
    if (pruneIntervalSeconds === false) return;
    // Not all instances at the same moment, and the first time soon: many a process does not live for an hour.
    const next = (share: number): void => {
      if (this.stopped) return;
      this.timer = setTimeout(
        () => void this.runOnce().then(() => next(1)),
        pruneIntervalSeconds * 1000 * share,
      ).unref();
    };
    next(this.crypto.randomBytes(1)[0]! / 256);
  }

  /** Begins no batch any more; resolves when the one that is running is done. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await Promise.allSettled(this.running);
  }

  private async runOnce(): Promise<void> {
    try {
      const report = await this.prune();
      this.logger.debug(`Cleaned up: ${JSON.stringify(report)}`);
    } catch {
      this.logger.warn('The clean-up could not be finished; the next one goes on.');
    }
  }

  private clean(): Promise<Omit<PruneReport, 'dryRun'>> {
    return measured(this.metrics, 'session_auth.prune.duration', () => this.removeAll());
  }

  private async remember<T>(run: Promise<T>): Promise<T> {
    try {
      const done = await run;
      // One that was stopped has not come to its end.
      if (!this.stopped) this.runs = { ...this.runs, succeededAt: new Date(this.clock.now()) };
      return done;
    } catch (error) {
      this.runs = { ...this.runs, failedAt: new Date(this.clock.now()) };
      throw error;
    }
  }

  private async removeAll(): Promise<Omit<PruneReport, 'dryRun'>> {
    const { store } = this;
    const now = this.clock.now();
    const before = this.instants(now);
    const remove = (what: Prunable): Promise<number> =>
      this.inBatches(KINDS[what], () => store.remove(what, before[what], BATCH));
    return {
      expiredSessions: await this.inBatches('expired_sessions', () => this.expire(now)),
      sealedAnswers: await this.inBatches('sealed_answers', () => store.eraseSealedAnswers(now, BATCH)),
      refreshTokens: await remove('refreshTokens'),
      sessions: await remove('sessions'),
      events: (await remove('events')) + (await this.trim()),
      loginFailures: await remove('loginFailures'),
      passwordResets: await remove('passwordResets'),
    };
  }

  private async countAll(): Promise<Omit<PruneReport, 'dryRun'>> {
    const { store } = this;
    const now = this.clock.now();
    const before = this.instants(now);
    const caps = { perUser: this.options.history.maxRowsPerUser, withoutUser: EVENTS_WITHOUT_USER };
    return {
      expiredSessions: await store.countExpired(now),
      sealedAnswers: await store.countSealedAnswers(now),
      refreshTokens: await store.count('refreshTokens', before.refreshTokens),
      sessions: await store.count('sessions', before.sessions),
      events: (await store.count('events', before.events)) + (await store.countOverCap(before.events, caps)),
      loginFailures: await store.count('loginFailures', before.loginFailures),
      passwordResets: await store.count('passwordResets', before.passwordResets),
    };
  }

  private async expire(now: number): Promise<number> {
    const ended = await this.store.expire(now, BATCH);
    this.notices.tellEnds(ended);
    return ended.length;
  }

  private async trim(): Promise<number> {
    const { maxRowsPerUser } = this.options.history;
    let removed = await this.inBatches('events', () => this.store.trim(null, EVENTS_WITHOUT_USER, BATCH));
    let last = '';
    while (!this.stopped) {
      const users = await this.store.usersOverCap(maxRowsPerUser, last, BATCH);
      for (const user of users) {
        removed += await this.inBatches('events', () => this.store.trim(user, maxRowsPerUser, BATCH));
      }
      if (users.length < BATCH) break;
      last = users[users.length - 1]!;
    }
    return removed;
  }

  /** Batch after batch until one is not full, with room for others between them. */
  private async inBatches(kind: PruneKind, batch: () => Promise<number>): Promise<number> {
    let total = 0;
    while (!this.stopped) {
      const size = await batch();
      total += size;
      this.metrics.count('session_auth.prune.rows', size, { 'session_auth.prune.kind': kind });
      if (size < BATCH) break;
      await turn();
    }
    return total;
  }

  /** Until when rows of each kind may be gone. */
  private instants(now: number): Readonly<Record<Prunable, number>> {
    const { absoluteTimeoutSeconds, history } = this.options;
    const retentionMs = history.retentionDays * DAY_MS;
    return {
      refreshTokens: now,
      // Reckoned from the end, which is indexed: its login was an absolute timeout earlier.
      sessions: now - Math.max(0, retentionMs - absoluteTimeoutSeconds * 1000),
      events: now - retentionMs,
      loginFailures: now,
      passwordResets: now,
    };
  }
}
