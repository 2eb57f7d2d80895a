import { BatchingLoader } from '../../libs/auth/src/database/batching-loader';

/** A database that responds to its oldest read when the test calls `answer` or `fail`. */
class SlowReads {
  readonly asked: string[][] = [];
  private readonly answers: { resolve: (found: Map<string, string>) => void; reject: (error: Error) => void }[] = [];
  stored = new Map([
    ['a', '1'],
    ['b', '1'],
  ]);

  readonly reads = new BatchingLoader<string>((keys) => {
    this.asked.push([...keys]);
    return new Promise((resolve, reject) => this.answers.push({ resolve, reject }));
  });

  async answer(): Promise<void> {
    this.answers.shift()!.resolve(new Map(this.stored));
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

describe('BatchingLoader', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('a lookup starts a read immediately if no read is in progress, and otherwise joins the next read', async () => {
    const database = new SlowReads();
    const { reads } = database;
    const first = reads.get('a');
    const others = [reads.get('b'), reads.get('c'), reads.get('b')];
    expect(database.asked).toEqual([['a']]);
    await database.answer();
    expect(await first).toBe('1');
    expect(database.asked).toEqual([['a'], ['b', 'c']]);
    await database.answer();
    expect(await Promise.all(others)).toEqual(['1', null, '1']);
    void reads.get('a');
    expect(database.asked).toHaveLength(3);
  });

  it('a lookup never receives the result of a read that started before the lookup', async () => {
    const database = new SlowReads();
    const before = database.reads.get('a');
    const during = database.reads.get('a');
    await database.answer();
    database.stored.delete('a');
    await database.answer();
    expect(await before).toBe('1');
    expect(await during).toBeNull();
  });

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
