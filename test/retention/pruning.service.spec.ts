import { Logger } from '@nestjs/common';
import { type Random } from '../../libs/auth/src/base/random';
import { Metrics } from '../../libs/auth/src/base/telemetry';
import type { EventLog } from '../../libs/auth/src/history/event-log';
import { resolveOptions } from '../../libs/auth/src/options/resolve-options';
import type { Prune, PruneCounts } from '../../libs/auth/src/retention/prune';
import { pending } from '../support/tap';
import { PruningService } from '../../libs/auth/src/retention/pruning.service';

const random = { bytes: () => [128] } as unknown as Random;
const clock = { now: () => 1_000_000_000_000 };

/** Pruning in one batch, which waits. */
async function* pruneAfter(held: Promise<void>): AsyncGenerator<Partial<PruneCounts>> {
  await held;
  yield { endedSessions: 500 };
}

describe('scheduled pruning', () => {
  const run = jest.fn(() => pruneAfter(Promise.resolve()));
  let events: EventLog;
  let service: PruningService;

  beforeAll(() => Logger.overrideLogger(false));
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    run.mockReset().mockImplementation(() => pruneAfter(Promise.resolve()));
    start(60);
  });
  afterEach(() => jest.useRealTimers());

  function start(pruneIntervalSeconds: number | false): void {
    events = {} as EventLog;
    const options = resolveOptions({ pruneIntervalSeconds });
    service = new PruningService(options, { run } as unknown as Prune, clock, events, Metrics.none(), random);
    service.onApplicationBootstrap();
  }

  /** Lets the time pass, and expects that pruning has run so often. */
  async function expectRuns(runs: number, afterMs: number): Promise<void> {
    jest.advanceTimersByTime(afterMs);
    for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
    expect(run).toHaveBeenCalledTimes(runs);
  }

  it('pruning runs within the first interval and then once per interval', async () => {
    for (const runs of [1, 2, 3]) await expectRuns(runs, 60_000);
    await service.beforeApplicationShutdown();
    await expectRuns(3, 600_000);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('a run that takes longer than the interval delays the next one, which starts one interval after it', async () => {
    const { promise, resolve } = pending();
    run.mockImplementationOnce(() => pruneAfter(promise));
    await expectRuns(1, 600_000);
    resolve();
    await expectRuns(1, 0);
    await expectRuns(1, 59_999);
    await expectRuns(2, 1);
    await service.beforeApplicationShutdown();
  });

  it('pruning runs again after a run that failed', async () => {
    run.mockImplementationOnce(() => {
      throw new Error('unavailable');
    });
    await expectRuns(1, 60_000);
    expect(service.lastRuns).toEqual({ succeededAt: null, failedAt: expect.any(Date) });
    await expectRuns(2, 60_000);
    expect(service.lastRuns.succeededAt).not.toBeNull();
    await service.beforeApplicationShutdown();
  });

  it('pruning is not scheduled if the interval is false', async () => {
    await service.beforeApplicationShutdown();
    start(false);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('closing the application stops a run between two batches, and schedules no further run', async () => {
    let batches = 0;
    run.mockImplementationOnce(async function* () {
      while (batches++ < 1_000) yield { endedSessions: 500 };
    });
    await expectRuns(1, 60_000);
    const before = batches;
    expect(before).toBeGreaterThan(10);
    await service.beforeApplicationShutdown();
    expect(batches).toBeLessThanOrEqual(before + 1);
    expect(service.lastRuns).toEqual({ succeededAt: null, failedAt: null });
    events.onGrowth();
    expect(jest.getTimerCount()).toBe(0);
  });
});
