import { AsyncLocalStorage } from 'node:async_hooks';
import { BatchingLoader } from '../../libs/auth/src/database/batching-loader';

/** That lookups share a read, and never receive the result of an earlier read: see `test/sessions/lookups.spec.ts`. */
describe('BatchingLoader', () => {
  let asked: string[][] = [];
  let answers: { resolve: (found: Map<string, string>) => void; reject: (error: Error) => void }[] = [];
  let reads: BatchingLoader<string>;

  beforeEach(() => {
    jest.useFakeTimers();
    [asked, answers] = [[], []];
    reads = new BatchingLoader<string>((keys) => {
      asked.push([...keys]);
      return new Promise((resolve, reject) => answers.push({ resolve, reject }));
    });
  });
  afterEach(() => jest.useRealTimers());

  /** Responds to the oldest read. */
  async function answer(): Promise<void> {
    answers.shift()!.resolve(new Map([['b', '1']]));
    await jest.advanceTimersByTimeAsync(0);
  }

  it('a failed read rejects only its own lookups, and waiting lookups are read afterwards', async () => {
    const failing = expect(reads.get('a')).rejects.toThrow('out of order');
    const next = reads.get('b');
    answers.shift()!.reject(new Error('out of order'));
    await failing;
    await answer();
    expect(await next).toBe('1');
  });

  it('a slow read delays other lookups by at most 50 ms', async () => {
    void reads.get('a');
    void reads.get('b');
    await jest.advanceTimersByTimeAsync(49);
    expect(asked).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(asked).toEqual([['a'], ['b']]);
    // The slow read has ended, but the second read is still in progress, so a new lookup waits.
    await answer();
    void reads.get('c');
    expect(asked).toHaveLength(2);
    await answer();
    expect(asked).toEqual([['a'], ['b'], ['c']]);
  });

  it('each read runs in the asynchronous context of its first caller, so that traces show it there', async () => {
    const caller = new AsyncLocalStorage<string>();
    const readers: unknown[] = [];
    reads = new BatchingLoader(async (keys) => {
      readers.push(caller.getStore());
      if (keys[0] === 'c') await new Promise(() => undefined);
      return new Map();
    });
    for (const key of ['a', 'b', 'b']) caller.run(key, () => void reads.get(key));
    await jest.advanceTimersByTimeAsync(0);
    for (const key of ['c', 'd']) caller.run(key, () => void reads.get(key));
    await jest.advanceTimersByTimeAsync(50);
    expect(readers).toEqual(['a', 'b', 'c', 'd']);
  });

  it('a read contains at most 128 keys', async () => {
    for (const key of Array(301).keys()) void reads.get(`key ${key}`);
    for (let i = 0; i < 4; i++) await answer();
    expect(asked.map(({ length }) => length)).toEqual([1, 128, 128, 44]);
    expect(new Set(asked.flat()).size).toBe(301);
    jest.advanceTimersByTime(50);
    expect(jest.getTimerCount()).toBe(0);
  });
});
