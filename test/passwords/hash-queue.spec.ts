import { HashQueue } from '../../libs/auth/src/passwords/passwords';
import { pending } from '../support/tap';

/** Work that ends when the test calls `end`. */
function work(): { run: () => Promise<string>; end: () => void; started: boolean } {
  const { promise, resolve: end } = pending();
  const one = {
    started: false,
    end,
    run: async (): Promise<string> => {
      one.started = true;
      await promise;
      return 'done';
    },
  };
  return one;
}

const enterAndHash = <T>(queue: HashQueue, run: () => Promise<T>, network: string): Promise<T> =>
  queue.enter(network, () => queue.runHash(network, run));

const BUSY = { code: 'busy' };

describe('the queue of password hashes', () => {
  it('the queue runs and queues the configured numbers of hashes, refuses the next hash immediately, and needs no further capacity for work that has entered', async () => {
    const queue = new HashQueue({ hashing: { concurrent: 2, waiting: 1 } });
    const works = [work(), work(), work(), work()];
    const results = works.slice(0, 3).map(({ run }, index) => enterAndHash(queue, run, `192.0.2.${index}`));
    await expect(enterAndHash(queue, works[3]!.run, '192.0.2.9')).rejects.toMatchObject(BUSY);
    await expect(queue.enter('192.0.2.9', works[3]!.run)).rejects.toMatchObject(BUSY);
    expect(works.map(({ started }) => started)).toEqual([true, true, false, false]);
    expect(queue.load).toEqual({ running: 2, waiting: 1 });
    works.forEach(({ end }) => end());
    expect(await Promise.all(results)).toEqual(['done', 'done', 'done']);
    expect(queue.load).toEqual({ running: 0, waiting: 0 });
  });

  it('hashes and other work share one capacity, of which failed work releases its slot, and one network can use at most half', async () => {
    const queue = new HashQueue({ hashing: { concurrent: 1, waiting: 5 } });
    for (const network of ['', '192.0.2.1']) {
      const [hash, other, again, failing] = [work(), work(), work(), work()];
      const fail = () => failing.run().then(() => Promise.reject(new Error('failed')));
      const failed = enterAndHash(queue, fail, network);
      const flood = [enterAndHash(queue, hash.run, network), queue.enter(network, other.run)];
      await expect(enterAndHash(queue, again.run, network)).rejects.toMatchObject(BUSY);
      await expect(queue.enter(network, again.run)).rejects.toMatchObject(BUSY);
      const others = [4, 5, 6].map((index) => queue.enter(`192.0.2.${index}`, other.run));
      await expect(queue.enter('192.0.2.9', again.run)).rejects.toMatchObject(BUSY);
      failing.end();
      await expect(failed).rejects.toThrow('failed');
      flood.push(enterAndHash(queue, again.run, network));
      for (const { end } of [hash, other, again]) end();
      expect(await Promise.all([...flood, ...others])).toEqual(Array<string>(6).fill('done'));
    }
  });

  it('a flood from one network delays each hash of another network by one hash, because networks take turns', async () => {
    const queue = new HashQueue({ hashing: { concurrent: 1, waiting: 20 } });
    const order: string[] = [];
    const hash = (network: string): Promise<void> => enterAndHash(queue, async () => void order.push(network), network);
    await Promise.all(['a', 'a', 'a', 'a', 'b', 'c', 'b'].map(hash));
    expect(order).toEqual(['a', 'a', 'b', 'c', 'a', 'b', 'a']);
  });
});
