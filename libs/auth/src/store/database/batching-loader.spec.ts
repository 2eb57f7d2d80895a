import { BatchingLoader } from './batching-loader';

/** A database that answers when it is told to. */
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

describe('reads that are gathered', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('go out at once where none is under way, and wait for each other where one is', async () => {
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

  it('are never answered by what was read before they came', async () => {
    const database = new SlowReads();
    const before = database.reads.get('a');
    const during = database.reads.get('a');
    await database.answer();
    database.stored.delete('a');
    await database.answer();
    expect(await before).toBe('1');
    expect(await during).toBeNull();
  });

  it('that fail fail alone: those behind them are read again', async () => {
    const database = new SlowReads();
    const failing = expect(database.reads.get('a')).rejects.toThrow('out of order');
    const next = database.reads.get('b');
    await database.fail();
    await failing;
    await database.answer();
    expect(await next).toBe('1');
  });

  it('that are slow keep nobody waiting for long', async () => {
    const database = new SlowReads();
    void database.reads.get('a');
    void database.reads.get('b');
    await jest.advanceTimersByTimeAsync(49);
    expect(database.asked).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(database.asked).toEqual([['a'], ['b']]);
    // What comes when the slow one is answered at last waits for the one that is under way.
    await database.answer();
    void database.reads.get('c');
    expect(database.asked).toHaveLength(2);
    await database.answer();
    expect(database.asked).toEqual([['a'], ['b'], ['c']]);
  });

  it('are bounded in size', async () => {
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
