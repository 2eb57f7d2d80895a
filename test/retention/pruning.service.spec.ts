import { Logger } from '@nestjs/common';
import { Clock } from '../../libs/auth/src/base/clock';
import { type CryptoSource } from '../../libs/auth/src/base/random';
import { NoMetrics } from '../../libs/auth/src/base/telemetry';
import type { PrunedSessions, PruningStore } from '../../libs/auth/src/retention/prune';
import { HistoryGrowth } from '../../libs/auth/src/history/event-log';
import { resolveOptions } from '../../libs/auth/src/options/resolve-options';
import type { AuthModuleOptions } from '../../libs/auth/src/options/auth-options';
import type { SessionLifecycle } from '../../libs/auth/src/sessions/lifecycle';
import { PruningSchedule } from '../../libs/auth/src/retention/pruning.service';
import { PruningService, type PruneReport } from '../../libs/auth/src/retention/pruning.service';

class StoppedClock extends Clock {
  now(): number {
    return 1_000_000_000_000;
  }
}

/** Returns a store with the given number of rows of each kind. Its methods respect the batch limit. */
function storeWith(rows: number): { store: PruningStore; calls: string[] } {
  const calls: string[] = [];
  const left = new Map<string, number>();
  const take = (what: string, limit: number): Promise<number> => {
    calls.push(what);
    const size = Math.min(left.get(what) ?? rows, limit);
    left.set(what, (left.get(what) ?? rows) - size);
    return Promise.resolve(size);
  };
  const store = {
    pruneSessions: async (_: unknown, limit: number): Promise<PrunedSessions> => {
      const visited = await take('sessions', limit);
      return { visited, removed: 0, ended: Array(visited).fill({}) as PrunedSessions['ended'] };
    },
    remove: (what: string, _: number, limit: number) => take(what, limit),
    usersOverCap: () => Promise.resolve({ users: [], next: null }),
    trimSessions: () => Promise.resolve(0),
    trim: async (_: string | null, __: number, limit: number) => ({ removed: await take('trim', limit), next: null }),
  };
  return { store: store as unknown as PruningStore, calls };
}

const crypto = { randomBytes: () => [128] } as unknown as CryptoSource;
const lifecycle = {
  operationContext: () => ({ now: 0, client: {} }),
  publishSessionEnded: () => undefined,
} as unknown as SessionLifecycle;

/** The service and its schedule, which start and stop together. */
function pruningOf(
  store: PruningStore,
  given: AuthModuleOptions = {},
): { start(): void; stop(): Promise<unknown>; prune(): Promise<PruneReport> } {
  const options = resolveOptions(given);
  const pruning = new PruningService(
    options,
    new StoppedClock(),
    store,
    lifecycle,
    new NoMetrics(),
    new HistoryGrowth(1_000),
  );
  const schedule = new PruningSchedule(options, crypto, pruning);
  return {
    start: () => schedule.onApplicationBootstrap(),
    stop: () => Promise.all([schedule.beforeApplicationShutdown(), pruning.beforeApplicationShutdown()]),
    prune: () => pruning.prune(),
  };
}

describe('pruning', () => {
  it('pruning trims the histories of all other users, and prunes everything else, if one history cannot be trimmed', async () => {
    const { store, calls } = storeWith(0);
    const trimmed: (string | null)[] = [];
    store.usersOverCap = (_, after) =>
      Promise.resolve(after === '' ? { users: ['alice', 'bob'], next: 'bob' } : { users: ['carol'], next: null });
    store.trim = (user) => {
      trimmed.push(user);
      return user === 'alice' ? Promise.reject(new Error('locked')) : Promise.resolve({ removed: 0, next: null });
    };
    await expect(pruningOf(store).prune()).rejects.toThrow('locked');
    expect(trimmed).toEqual([null, 'alice', 'bob', 'carol']);
    expect(calls).toEqual(
      expect.arrayContaining(['sessions', 'events', 'loginFailures', 'loginTickets', 'passwordResets']),
    );
  });

  it('pruning stops after ten histories that cannot be trimmed, because the database is probably down', async () => {
    const { store } = storeWith(0);
    let tries = 0;
    store.usersOverCap = () => Promise.resolve({ users: Array<string>(100).fill('alice'), next: null });
    store.trim = () => Promise.reject(new Error(`unavailable ${++tries}`));
    await expect(pruningOf(store).prune()).rejects.toThrow('unavailable 1');
    expect(tries).toBe(10);
  });
});

describe('scheduled pruning', () => {
  beforeAll(() => Logger.overrideLogger(false));
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
  afterEach(() => jest.useRealTimers());

  const settle = async (): Promise<void> => {
    for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
  };

  it('pruning runs within the first interval and then once per interval', async () => {
    const { store, calls } = storeWith(0);
    const pruning = pruningOf(store, { pruneIntervalSeconds: 60 });
    pruning.start();
    for (const runs of [1, 2, 3]) {
      jest.advanceTimersByTime(60_000);
      await settle();
      expect(calls.filter((call) => call === 'sessions')).toHaveLength(runs);
    }
    await pruning.stop();
    jest.advanceTimersByTime(600_000);
    await settle();
    expect(calls.filter((call) => call === 'sessions')).toHaveLength(3);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('pruning runs again after a run that failed', async () => {
    const { store, calls } = storeWith(0);
    let isFailing = true;
    const prune = store.pruneSessions.bind(store);
    store.pruneSessions = (...args) => (isFailing ? Promise.reject(new Error('unavailable')) : prune(...args));
    const pruning = pruningOf(store, { pruneIntervalSeconds: 60 });
    pruning.start();
    jest.advanceTimersByTime(60_000);
    await settle();
    expect(calls).toEqual([]);
    isFailing = false;
    jest.advanceTimersByTime(60_000);
    await settle();
    expect(calls).toContain('sessions');
    await pruning.stop();
  });

  it('pruning does not run if the interval is false', () => {
    pruningOf(storeWith(0).store, { pruneIntervalSeconds: false }).start();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('a run that was in progress when the application was closed schedules no further run', async () => {
    const { store } = storeWith(0);
    const pruning = pruningOf(store, { pruneIntervalSeconds: 60 });
    let finish!: (rows: number) => void;
    store.remove = () => new Promise((resolve) => (finish = resolve));
    pruning.start();
    await jest.advanceTimersByTimeAsync(60_000);
    const stopped = pruning.stop();
    finish(0);
    await stopped;
    await jest.advanceTimersByTimeAsync(0);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('pruning runs batch after batch, and stops between two batches when the application is closed', async () => {
    const { store, calls } = storeWith(100_000);
    const pruning = pruningOf(store);
    const run = pruning.prune();
    await settle();
    const stopped = pruning.stop();
    const before = calls.length;
    await stopped;
    const report = await run;
    expect(before).toBeGreaterThan(10);
    expect(calls.length).toBeLessThanOrEqual(before + 1);
    expect(report.endedSessions).toBe(calls.length * 500);
    expect(report.events).toBe(0);
  });
});
