import { BatchingLoader } from '../../libs/auth/src/database/batching-loader';

/** A database that responds to its oldest read when the test calls `answer` or `fail`. */
class SlowReads {
  readonly asked: string[][] = [];
  private readonly answers: { resolve: (found: Map<string, string>) => void; reject: (error: Error) => void }[] = [];

  readonly reads = new BatchingLoader<string>((keys) => {
    this.asked.push([...keys]);
    return new Promise((resolve, reject) => this.answers.push({ resolve, reject }));
  });

  async answer(): Promise<void> {
    this.answers.shift()!.resolve(new Map([['b', '1']]));
    await settle();
  }

  async fail(): Promise<void> {
    this.answers.shift()!.reject(new Error('out of order'));
    await settle();
  }
}

async function settle(): Promise<void> {
  for (let i = 0; i < 10; i++) await Promise.resolve();
}

/** That lookups share a read, and never receive the result of an earlier read: see `test/sessions/lookups.spec.ts`. */
describe('BatchingLoader', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('a failed read rejects only its own lookups, and waiting lookups are read afterwards', async () => {
    const database = new SlowReads();
    const failing = expect(database.reads.get('a')).rejects.toThrow('out of order');
    const next = database.reads.get('b');
    await database.fail();
    await failing;
    await database.answer();
    expect(await next).toBe('1');
  });

  it('a slow read delays other lookups by at most 50 ms', async () => {
    const database = new SlowReads();
    void database.reads.get('a');
    void database.reads.get('b');
    await jest.advanceTimersByTimeAsync(49);
    expect(database.asked).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(database.asked).toEqual([['a'], ['b']]);
    // The slow read has ended, but the second read is still in progress, so a new lookup waits.
    await database.answer();
    void database.reads.get('c');
    expect(database.asked).toHaveLength(2);
    await database.answer();
    expect(database.asked).toEqual([['a'], ['b'], ['c']]);
  });

  it('a read contains at most 128 keys', async () => {
    const database = new SlowReads();
    void database.reads.get('first');
    for (let i = 0; i < 300; i++) void database.reads.get(`key ${i}`);
    for (let i = 0; i < 4; i++) await database.answer();
    expect(database.asked.map(({ length }) => length)).toEqual([1, 128, 128, 44]);
    expect(new Set(database.asked.flat()).size).toBe(301);
    jest.advanceTimersByTime(50);
    expect(jest.getTimerCount()).toBe(0);
  });
});
