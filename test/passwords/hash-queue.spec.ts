import { HashQueue } from '../../libs/auth/src/passwords/passwords';

/** Work that ends when the test calls `end` or `fail`. */
function work(): { run: () => Promise<string>; end: () => void; fail: () => void; started: () => boolean } {
  let end!: () => void;
  let fail!: () => void;
  let started = false;
  const run = (): Promise<string> => {
    started = true;
    return new Promise((resolve, reject) => {
      end = () => resolve('done');
      fail = () => reject(new Error('failed'));
    });
  };
  return { run, end: () => end(), fail: () => fail(), started: () => started };
}

function enterAndHash<T>(queue: HashQueue, run: () => Promise<T>, network = ''): Promise<T> {
  return queue.enter(network, () => queue.runHash(network, run));
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the queue of password hashes', () => {
  it('the queue runs and queues the configured numbers of hashes, and refuses the next hash immediately', async () => {
    const queue = new HashQueue({ hashing: { concurrent: 2, waiting: 1 } });
    const works = [work(), work(), work(), work()];
    const results = works.slice(0, 3).map(({ run }, index) => enterAndHash(queue, run, `192.0.2.${index}`));
    await expect(enterAndHash(queue, works[3]!.run, '192.0.2.9')).rejects.toMatchObject({ code: 'busy' });
    expect(works.map(({ started }) => started())).toEqual([true, true, false, false]);
    expect(queue.load).toEqual({ running: 2, waiting: 1 });
    works[0]!.end();
    expect(await results[0]).toBe('done');
    await settled();
    expect(works[2]!.started()).toBe(true);
    works[1]!.end();
    works[2]!.end();
    expect(await Promise.all(results)).toEqual(['done', 'done', 'done']);
    expect(queue.load).toEqual({ running: 0, waiting: 0 });
  });

  it('the queue starts the next hash after one that fails', async () => {
    const queue = new HashQueue({ hashing: { concurrent: 1, waiting: 1 } });
    const [first, second] = [work(), work()];
    const failing = enterAndHash(queue, first.run, '192.0.2.1');
    const waiting = enterAndHash(queue, second.run, '192.0.2.2');
    first.fail();
    await expect(failing).rejects.toThrow('failed');
    await settled();
    second.end();
    expect(await waiting).toBe('done');
  });
});

describe('the capacity of the queue', () => {
  it('hashes and other work that has entered share one capacity, and further work is refused', async () => {
    const queue = new HashQueue({ hashing: { concurrent: 1, waiting: 1 } });
    const [other, hash] = [work(), work()];
    const entered = queue.enter('192.0.2.1', other.run);
    const hashed = enterAndHash(queue, hash.run);
    await expect(enterAndHash(queue, work().run, '192.0.2.2')).rejects.toMatchObject({ code: 'busy' });
    await expect(queue.enter('192.0.2.2', () => Promise.resolve())).rejects.toMatchObject({ code: 'busy' });
    other.end();
    await entered;
    await queue.enter('192.0.2.2', () => Promise.resolve());
    hash.end();
    await hashed;
  });

  it('work that has entered the queue needs no further capacity to hash', async () => {
    const queue = new HashQueue({ hashing: { concurrent: 1, waiting: 1 } });
    const hashTwice = async (): Promise<string> => {
      await queue.runHash('192.0.2.1', () => Promise.resolve());
      return queue.runHash('192.0.2.1', () => Promise.resolve('done'));
    };
    expect(await queue.enter('192.0.2.1', hashTwice)).toBe('done');
  });

  it('one network can use at most half of the capacity, and failed work releases its slot', async () => {
    const queue = new HashQueue({ hashing: { concurrent: 1, waiting: 5 } });
    const works = Array.from({ length: 7 }, work);
    const enter = (network: string, index: number): Promise<string> => queue.enter(network, works[index]!.run);
    const flood = [0, 1, 2].map((index) => enter('192.0.2.1', index));
    await expect(enter('192.0.2.1', 3)).rejects.toMatchObject({ code: 'busy' });
    const others = [4, 5, 6].map((index) => enter(`192.0.2.${index}`, index));
    await expect(enter('192.0.2.9', 3)).rejects.toMatchObject({ code: 'busy' });
    works[0]!.fail();
    await expect(flood[0]).rejects.toThrow('failed');
    const again = enter('192.0.2.1', 3);
    for (const index of [1, 2, 3, 4, 5, 6]) works[index]!.end();
    expect(await Promise.all([...flood.slice(1), ...others, again])).toEqual(Array<string>(6).fill('done'));
  });

  it.each(['', '192.0.2.1'])('hashes of the network %j can use at most half of the capacity', async (network) => {
    const queue = new HashQueue({ hashing: { concurrent: 1, waiting: 4 } });
    const works = [work(), work(), work()];
    const hashes = works.slice(0, 2).map(({ run }) => enterAndHash(queue, run, network));
    await expect(enterAndHash(queue, work().run, network)).rejects.toMatchObject({ code: 'busy' });
    const other = enterAndHash(queue, works[2]!.run, '192.0.2.9');
    for (const { end } of works) {
      await settled();
      end();
    }
    // Networks take turns, so the hash of the other network ran second.
    works[1]!.end();
    expect(await Promise.all([...hashes, other])).toEqual(['done', 'done', 'done']);
  });

  it('a flood from one network delays each hash of another network by one hash, because networks take turns', async () => {
    const queue = new HashQueue({ hashing: { concurrent: 1, waiting: 20 } });
    const order: string[] = [];
    const hash = (network: string): Promise<void> => enterAndHash(queue, async () => void order.push(network), network);
    await Promise.all(['a', 'a', 'a', 'a', 'b', 'c', 'b'].map(hash));
    expect(order).toEqual(['a', 'a', 'b', 'c', 'a', 'b', 'a']);
  });
});
