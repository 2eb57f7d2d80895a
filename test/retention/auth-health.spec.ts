import { StoreProbe } from '../../libs/auth/src/retention/health';
import { AuthHealth } from '../../libs/auth/src/retention/health';
import type { PruningService } from '../../libs/auth/src/retention/pruning.service';

/** A database that responds when the test calls `answer`. */
class HeldProbe extends StoreProbe {
  reads = 0;
  answer = (): void => undefined;

  findFailure(): Promise<null> {
    this.reads++;
    return new Promise((resolve) => (this.answer = () => resolve(null)));
  }
}

const pruning = { lastRuns: { succeededAt: null, failedAt: null } } as PruningService;

describe('AuthHealth', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('reports down if the database takes longer than two seconds, and up when it responds again', async () => {
    const probe = new HeldProbe();
    const health = new AuthHealth(probe, pruning);
    const first = health.check();
    await jest.advanceTimersByTimeAsync(1_999);
    const second = health.check();
    await jest.advanceTimersByTimeAsync(1);
    expect(await first).toMatchObject({ status: 'down', database: 'down', reason: 'timeout' });
    probe.answer();
    expect(await second).toMatchObject({ status: 'up' });
    expect(jest.getTimerCount()).toBe(0);
  });

  it('does not send a second probe while the database has not responded to the first', async () => {
    const probe = new HeldProbe();
    const health = new AuthHealth(probe, pruning);
    const checks = [health.check(), health.check()];
    await jest.advanceTimersByTimeAsync(2_000);
    await Promise.all([...checks]);
    checks.push(health.check());
    expect(probe.reads).toBe(1);
    probe.answer();
    expect((await checks[2])!.status).toBe('up');
    const next = health.check();
    expect(probe.reads).toBe(2);
    probe.answer();
    await next;
  });
});
