import type { Admission } from '../../domain/failure-streak';
import type { ApplicationTransactions } from '../../domain/ports/platform';
import { AttemptSlots, type Slots } from './attempt-slots';
import { WaitQueue } from './wait-queue';

const NOW = 1_000_000;

/** One instance whose database has so many free slots. */
function instance(freeSlots: number) {
  const state = { free: freeSlots, looks: 0, delayedUntil: 0 };
  const ofAlice: Slots = {
    key: 'alice',
    take: async (): Promise<Admission> => {
      state.looks++;
      if (state.delayedUntil > NOW) return { kind: 'blocked', scope: 'network', until: state.delayedUntil };
      if (state.free === 0) return { kind: 'at_capacity', scope: 'network' };
      state.free--;
      return { kind: 'admitted' };
    },
    release: async () => void state.free++,
  };
  const slots = new AttemptSlots(
    { now: () => NOW },
    { outsideTransaction: (call: () => unknown) => call() } as unknown as ApplicationTransactions,
    new WaitQueue({ concurrent: 1, waiting: 100 }),
  );
  const run = (work: () => Promise<string>): Promise<string> => slots.enter('', () => slots.run(ofAlice, work));
  /** Attempts that return their slot when they end. */
  const attempt = (verify: () => Promise<string>): Promise<string> =>
    run(async () => {
      const result = await verify();
      state.free++;
      return result;
    });
  return { state, run, attempt };
}

describe('attempts that find no free slot', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  it('wait for one of the same process to finish, and look again without delay, first come first served', async () => {
    const { state, attempt } = instance(1);
    const order: number[] = [];
    const attempts = Array.from({ length: 20 }, (_, index) =>
      attempt(async () => {
        await Promise.resolve();
        order.push(index);
        return 'ok';
      }),
    );
    // No timer elapses: they are woken.
    expect(await Promise.all(attempts)).toEqual(Array<string>(20).fill('ok'));
    expect(order).toEqual(order.map((_, index) => index));
    expect(state.looks).toBeLessThanOrEqual(60);
  });

  it('look again after a while for slots that other instances free, and are refused as busy in the end', async () => {
    const { state, attempt } = instance(0);
    const first = attempt(() => Promise.resolve('ok'));
    await jest.advanceTimersByTimeAsync(1_000);
    state.free = 1;
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await first).toBe('ok');
    Object.assign(state, { free: 0, looks: 0 });
    const refused = expect(attempt(() => Promise.resolve('ok'))).rejects.toMatchObject({ code: 'busy' });
    await jest.advanceTimersByTimeAsync(10_000);
    await refused;
    expect(state.looks).toBe(8);
  });

  it('leave the looking to the first of them, and are all answered within a bounded time', async () => {
    const { state, attempt } = instance(0);
    const outcomes = Array.from({ length: 50 }, () => attempt(() => Promise.resolve('ok')).catch(({ code }) => code));
    await jest.advanceTimersByTimeAsync(0);
    state.looks = 0;
    const newcomer = attempt(() => Promise.resolve('ok')).catch(({ code }) => code);
    await jest.advanceTimersByTimeAsync(2_000);
    expect(state.looks).toBeLessThan(10);
    await jest.advanceTimersByTimeAsync(18_000);
    expect(await newcomer).toBe('busy');
    expect(await Promise.all(outcomes)).toEqual(Array<string>(50).fill('busy'));
    expect(state.looks).toBeLessThan(20);
  });

  it('are refused together as soon as one that fails sets a delay', async () => {
    const { state, run, attempt } = instance(1);
    let fail!: () => void;
    const failing = run(() => new Promise<string>((resolve) => (fail = () => resolve('failed'))));
    await jest.advanceTimersByTimeAsync(0);
    const others = Array.from({ length: 5 }, () => attempt(() => Promise.resolve('ok')).catch(({ code }) => code));
    await jest.advanceTimersByTimeAsync(0);
    state.delayedUntil = NOW + 30_000;
    fail();
    expect(await failing).toBe('failed');
    expect(await Promise.all(others)).toEqual(Array<string>(5).fill('too_many_attempts'));
  });
});
