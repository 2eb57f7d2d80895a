import { StoreProbe } from '../../domain/ports/maintenance';
import { AuthHealth } from './auth-health';
import type { PruningService } from './pruning.service';

/** A database that answers when it is told to. */
class HeldProbe extends StoreProbe {
  reads = 0;
  answer = (): void => undefined;

  findFailure(): Promise<null> {
    this.reads++;
    return new Promise((resolve) => (this.answer = () => resolve(null)));
  }
}

const pruning = { lastRuns: { succeededAt: null, failedAt: null } } as PruningService;

describe('the health of authentication', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('is down after two seconds, whatever the database does, and up again when it answers', async () => {
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

  it('asks a database that hangs no second time', async () => {
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
