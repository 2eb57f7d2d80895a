import { Logger } from '@nestjs/common';
import { Clock } from '../domain/ports/clock';
import { NoMetrics } from '../domain/ports/metrics';
import type { PruningStore } from '../domain/ports/pruning-store';
import { resolveOptions } from '../options/resolve-options';
import { PruningService } from './pruning.service';
import { SealedAnswers } from './sealed-answers';
import type { SessionNotices } from './session-notices';
import type { CryptoSource } from '../domain/ports/crypto-source';

class StoppedClock extends Clock {
  now(): number {
    return 1_000_000_000_000;
  }
}

/** A store with so many rows of each kind, which gives no more than was asked for. */
function storeWith(rows: number): { store: PruningStore; calls: string[] } {
  const calls: string[] = [];
  const left = new Map<string, number>();
  const take = (what: string, most: number): Promise<number> => {
    calls.push(what);
    const size = Math.min(left.get(what) ?? rows, most);
    left.set(what, (left.get(what) ?? rows) - size);
    return Promise.resolve(size);
  };
  const store = {
    expire: async (_: number, most: number) => Array<object>(await take('expire', most)).fill({}),
    eraseSealedAnswers: (_: number, most: number) => take('sealed', most),
    remove: (what: string, _: number, most: number) => take(what, most),
    usersOverCap: () => Promise.resolve([]),
    trim: (_: string | null, __: number, most: number) => take('trim', most),
  };
  return { store: store as unknown as PruningStore, calls };
}

const crypto = { seal: () => 'sealed', randomBytes: () => [128] } as unknown as CryptoSource;
const notices = { tellEnds: () => undefined } as unknown as SessionNotices;

describe('the clean-up that runs by itself', () => {
  beforeAll(() => Logger.overrideLogger(false));
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
  afterEach(() => jest.useRealTimers());

  const settle = async (): Promise<void> => {
    for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
  };

  it('runs within the first interval and then once in each', async () => {
    const { store, calls } = storeWith(0);
    const pruning = new PruningService(
      resolveOptions({ pruneIntervalSeconds: 60 }),
      new StoppedClock(),
      crypto,
      store,
      notices,
      new NoMetrics(),
    );
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

  it('goes on after a run that failed', async () => {
    const { store, calls } = storeWith(0);
    let failing = true;
    const expire = store.expire.bind(store);
    store.expire = (...args) => (failing ? Promise.reject(new Error('away')) : expire(...args));
    const pruning = new PruningService(
      resolveOptions({ pruneIntervalSeconds: 60 }),
      new StoppedClock(),
      crypto,
      store,
      notices,
      new NoMetrics(),
    );
    pruning.start();
    jest.advanceTimersByTime(60_000);
    await settle();
    expect(calls).toEqual([]);
    failing = false;
    jest.advanceTimersByTime(60_000);
    await settle();
    expect(calls).toContain('sessions');
    await pruning.stop();
  });

  it('does not run where the interval is false', () => {
    const { store } = storeWith(0);
    new PruningService(
      resolveOptions({ pruneIntervalSeconds: false }),
      new StoppedClock(),
      crypto,
      store,
      notices,
      new NoMetrics(),
    ).start();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is not begun again by a run that was under way when the app was closed', async () => {
    const { store } = storeWith(0);
    const options = resolveOptions({ pruneIntervalSeconds: 60 });
    const pruning = new PruningService(options, new StoppedClock(), crypto, store, notices, new NoMetrics());
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

  it('takes batch after batch, and stops between two of them when the app is closed', async () => {
    const { store, calls } = storeWith(100_000);
    const pruning = new PruningService(resolveOptions(), new StoppedClock(), crypto, store, notices, new NoMetrics());
    const run = pruning.prune();
    await settle();
    const stopped = pruning.stop();
    const before = calls.length;
    await stopped;
    const report = await run;
    expect(before).toBeGreaterThan(10);
    expect(calls.length).toBeLessThanOrEqual(before + 1);
    expect(report.expiredSessions).toBe(calls.length * 500);
    expect(report.sessions).toBe(0);
  });
});

describe('answers that were kept for a grace period', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  const pair = { accessToken: 'a', refreshToken: 'r' };
  const running: Clock = { now: () => Date.now() };

  /** A database with answers that can be erased after these instants; while it is locked, nobody gets at them. */
  function answersThatEnd(...ends: number[]): { store: PruningStore; left: number[]; locked: boolean; looks: number } {
    const database = { left: ends, locked: false, looks: 0, store: {} as PruningStore };
    database.store = {
      eraseSealedAnswers: (now: number) => {
        database.looks++;
        const before = database.left.length;
        if (!database.locked) database.left = database.left.filter((end) => end > now);
        return Promise.resolve(before - database.left.length);
      },
      hasSealedAnswers: () => Promise.resolve(database.left.length > 0),
    } as unknown as PruningStore;
    return database;
  }
  const graceOf = (seconds: number, store: PruningStore): SealedAnswers =>
    new SealedAnswers(resolveOptions({ refreshReuseGraceSeconds: seconds }), crypto, running, store);

  it('are erased soon after the window, by one timer for any number of them', async () => {
    const database = answersThatEnd();
    const answers = graceOf(10, database.store);
    for (let i = 0; i < 5; i++) {
      answers.seal('token', pair);
      database.left.push(Date.now() + 10_000);
      await jest.advanceTimersByTimeAsync(100);
    }
    expect(jest.getTimerCount()).toBe(1);
    await jest.advanceTimersByTimeAsync(20_000);
    expect(database.left).toEqual([]);
    await jest.advanceTimersByTimeAsync(20_000);
    expect(jest.getTimerCount()).toBe(0);
    answers.seal('token', pair);
    await answers.stop();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('are erased later where somebody has their session locked, or they were committed late', async () => {
    const database = answersThatEnd();
    const answers = graceOf(1, database.store);
    answers.seal('token', pair);
    await jest.advanceTimersByTimeAsync(4_000);
    database.left.push(Date.now() - 3_000);
    database.locked = true;
    await jest.advanceTimersByTimeAsync(60_000);
    expect(database.left).toHaveLength(1);
    database.locked = false;
    await jest.advanceTimersByTimeAsync(2_000);
    expect(database.left).toEqual([]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('are erased by the next process, even if that has no grace any more', async () => {
    const database = answersThatEnd(Date.now() - 1, Date.now() + 30_000);
    const answers = graceOf(0, database.store);
    answers.start();
    await jest.advanceTimersByTimeAsync(0);
    expect(database.left).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(32_000);
    expect(database.left).toEqual([]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('are not there without one, and nothing is looked for after the start', async () => {
    const database = answersThatEnd();
    const answers = graceOf(0, database.store);
    answers.start();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(answers.seal('token', pair)).toBeNull();
    expect([database.looks, jest.getTimerCount()]).toEqual([1, 0]);
  });
});
