import { Logger } from '@nestjs/common';
import { type Random } from '../../libs/auth/src/base/random';
import { Metrics } from '../../libs/auth/src/base/telemetry';
import type { EventLog } from '../../libs/auth/src/history/event-log';
import type { AuthModuleOptions } from '../../libs/auth/src/options/auth-options';
import { resolveOptions } from '../../libs/auth/src/options/resolve-options';
import type { Prune, PruneCounts } from '../../libs/auth/src/retention/prune';
import { pending } from '../support/tap';
import { PruningService } from '../../libs/auth/src/retention/pruning.service';

/** Pruning that ends sessions in the given number of batches. */
class FakePrune {
  runs = 0;
  batches = 0;
  /** What each batch waits for. */
  held: Promise<unknown> = Promise.resolve();

  constructor(private readonly batchesPerRun: number) {}

  async *run(): AsyncGenerator<Partial<PruneCounts>> {
    this.runs++;
    for (let i = 0; i < this.batchesPerRun; i++) {
      this.batches++;
      await this.held;
      yield { endedSessions: 500 };
    }
  }
}

const random = { bytes: () => [128] } as unknown as Random;
const clock = { now: () => 1_000_000_000_000 };

function serviceOf(prune: FakePrune, given: AuthModuleOptions = {}, events = {} as EventLog): PruningService {
  const options = resolveOptions(given);
  return new PruningService(options, prune as unknown as Prune, clock, events, Metrics.none(), random);
}

describe('scheduled pruning', () => {
  beforeAll(() => Logger.overrideLogger(false));
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
  afterEach(() => jest.useRealTimers());

  const settle = async (): Promise<void> => {
    for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
  };

  it('pruning runs within the first interval and then once per interval', async () => {
    const prune = new FakePrune(0);
    const service = serviceOf(prune, { pruneIntervalSeconds: 60 });
    service.onApplicationBootstrap();
    for (const runs of [1, 2, 3]) {
      jest.advanceTimersByTime(60_000);
      await settle();
      expect(prune.runs).toBe(runs);
    }
    await service.beforeApplicationShutdown();
    jest.advanceTimersByTime(600_000);
    await settle();
    expect(prune.runs).toBe(3);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('a run that takes longer than the interval delays the next one, which starts one interval after it', async () => {
    const prune = new FakePrune(1);
    const { promise, resolve } = pending();
    prune.held = promise;
    const service = serviceOf(prune, { pruneIntervalSeconds: 60 });
    service.onApplicationBootstrap();
    for (const [milliseconds, runs] of [
      [600_000, 1],
      [59_999, 1],
      [1, 2],
    ] as const) {
      jest.advanceTimersByTime(milliseconds);
      await settle();
      expect(prune.runs).toBe(runs);
      resolve();
      await settle();
    }
    await service.beforeApplicationShutdown();
  });

  it('pruning runs again after a run that failed', async () => {
    const prune = new FakePrune(0);
    const run = prune.run.bind(prune);
    prune.run = () => {
      throw new Error('unavailable');
    };
    const service = serviceOf(prune, { pruneIntervalSeconds: 60 });
    service.onApplicationBootstrap();
    jest.advanceTimersByTime(60_000);
    await settle();
    expect([prune.runs, service.lastRuns.failedAt]).toEqual([0, expect.any(Date)]);
    prune.run = run;
    jest.advanceTimersByTime(60_000);
    await settle();
    expect([prune.runs, service.lastRuns.succeededAt]).toEqual([1, expect.any(Date)]);
    await service.beforeApplicationShutdown();
  });

  it('pruning is not scheduled if the interval is false, but runs once when the instance has written many events', async () => {
    const prune = new FakePrune(0);
    const events = {} as EventLog;
    const service = serviceOf(prune, { pruneIntervalSeconds: false }, events);
    service.onApplicationBootstrap();
    expect(jest.getTimerCount()).toBe(0);
    for (let i = 0; i < 2; i++) events.onGrowth();
    jest.advanceTimersByTime(0);
    await settle();
    expect(prune.runs).toBe(1);
    expect(jest.getTimerCount()).toBe(0);
    await service.beforeApplicationShutdown();
    events.onGrowth();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('closing the application stops a run between two batches, and schedules no further run', async () => {
    const prune = new FakePrune(1_000);
    const service = serviceOf(prune, { pruneIntervalSeconds: 60 });
    service.onApplicationBootstrap();
    jest.advanceTimersByTime(60_000);
    await settle();
    const { batches } = prune;
    expect(batches).toBeGreaterThan(10);
    await service.beforeApplicationShutdown();
    expect(prune.batches).toBeLessThanOrEqual(batches + 1);
    expect(service.lastRuns).toEqual({ succeededAt: null, failedAt: null });
    expect(jest.getTimerCount()).toBe(0);
  });
});
