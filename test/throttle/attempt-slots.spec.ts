import type { Admission } from '../../libs/auth/src/throttle/limits';
import type { ApplicationTransactions } from '../../libs/auth/src/database/joined-transaction';
import { AttemptSlots, type Slots } from '../../libs/auth/src/throttle/attempt-slots';
import { WaitQueue } from '../../libs/auth/src/passwords/hash-queue';

const NOW = 1_000_000;

/** An instance of the application whose database has the given number of free slots. */
function instance(freeSlots: number) {
  const state = { free: freeSlots, polls: 0, delayedUntil: 0 };
  const ofAlice: Slots = {
    key: 'alice',
    take: async (): Promise<Admission> => {
      state.polls++;
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
  /** An attempt that releases its slot when it ends. */
  const attempt = (verify: () => Promise<string>): Promise<string> =>
    run(async () => {
      const result = await verify();
      state.free++;
      return result;
    });
  return { state, run, attempt };
}

describe('AttemptSlots without a free slot', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  it('attempts without a free slot wait in order for another attempt of the process to finish', async () => {
    const { state, attempt } = instance(1);
    const order: number[] = [];
    const attempts = Array.from({ length: 20 }, (_, index) =>
      attempt(async () => {
        await Promise.resolve();
        order.push(index);
        return 'ok';
      }),
    );
    // The clock does not advance, so attempts are woken rather than polling.
    expect(await Promise.all(attempts)).toEqual(Array<string>(20).fill('ok'));
    expect(order).toEqual(order.map((_, index) => index));
    expect(state.polls).toBeLessThanOrEqual(60);
  });

  it('waiting attempts poll for slots that other instances release, and finally fail with busy', async () => {
    const { state, attempt } = instance(0);
    const first = attempt(() => Promise.resolve('ok'));
    await jest.advanceTimersByTimeAsync(1_000);
    state.free = 1;
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await first).toBe('ok');
    Object.assign(state, { free: 0, polls: 0 });
    const refused = expect(attempt(() => Promise.resolve('ok'))).rejects.toMatchObject({ code: 'busy' });
    await jest.advanceTimersByTimeAsync(10_000);
    await refused;
    expect(state.polls).toBe(8);
  });

  it('only the first waiting attempt polls for slots, and all attempts end within 20 seconds', async () => {
    const { state, attempt } = instance(0);
    const outcomes = Array.from({ length: 50 }, () => attempt(() => Promise.resolve('ok')).catch(({ code }) => code));
    await jest.advanceTimersByTimeAsync(0);
    state.polls = 0;
    const newcomer = attempt(() => Promise.resolve('ok')).catch(({ code }) => code);
    await jest.advanceTimersByTimeAsync(2_000);
    expect(state.polls).toBeLessThan(10);
    await jest.advanceTimersByTimeAsync(18_000);
    expect(await newcomer).toBe('busy');
    expect(await Promise.all(outcomes)).toEqual(Array<string>(50).fill('busy'));
    expect(state.polls).toBeLessThan(20);
  });

  it('waiting attempts are refused together as soon as a failure sets a delay', async () => {
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
