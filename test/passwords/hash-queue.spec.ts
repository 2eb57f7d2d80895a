import { HashQueue } from '../../libs/auth/src/passwords/passwords';
import { pending } from '../support/tap';

const enterAndHash = <T>(queue: HashQueue, run: () => Promise<T>, network: string): Promise<T> =>
  queue.enter(network, () => queue.runHash(network, run));

const BUSY = { code: 'busy' };

describe('the queue of password hashes', () => {
  it('hashes and other work share one capacity, of which failed work releases its slot, and one network can use at most half', async () => {
    const queue = new HashQueue({ hashing: { concurrent: 1, waiting: 5 } });
    for (const network of ['', '192.0.2.1']) {
      const [work, failing] = [pending(), pending()];
      const run = () => work.promise;
      const fail = () => failing.promise.then(() => Promise.reject(new Error('failed')));
      const failed = enterAndHash(queue, fail, network);
      const accepted = [enterAndHash(queue, run, network), queue.enter(network, run)];
      await expect(enterAndHash(queue, run, network)).rejects.toMatchObject(BUSY);
      await expect(queue.enter(network, run)).rejects.toMatchObject(BUSY);
      accepted.push(...[4, 5, 6].map((index) => queue.enter(`192.0.2.${index}`, run)));
      await expect(queue.enter('192.0.2.9', run)).rejects.toMatchObject(BUSY);
      failing.resolve();
      await expect(failed).rejects.toThrow('failed');
      accepted.push(enterAndHash(queue, run, network));
      work.resolve();
      await Promise.all(accepted);
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
