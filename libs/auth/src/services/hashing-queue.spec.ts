import { HashingQueue } from './hashing-queue';

/** Work that ends when it is told to. */
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

it('runs so many hashes, lets so many wait, and refuses the next at once', async () => {
  const queue = new HashingQueue({ concurrent: 2, waiting: 1 });
  const works = [work(), work(), work(), work()];
  const results = works.slice(0, 3).map(({ run }) => queue.run(run));
  await expect(queue.run(works[3]!.run)).rejects.toMatchObject({ code: 'busy' });
  expect(works.map(({ started }) => started())).toEqual([true, true, false, false]);
  works[0]!.end();
  expect(await results[0]).toBe('done');
  await new Promise((resolve) => setImmediate(resolve));
  expect(works[2]!.started()).toBe(true);
  works[1]!.end();
  works[2]!.end();
  expect(await Promise.all(results)).toEqual(['done', 'done', 'done']);
});

it('gives the place of work that fails to the next', async () => {
  const queue = new HashingQueue({ concurrent: 1, waiting: 1 });
  const [first, second] = [work(), work()];
  const failing = queue.run(first.run);
  const waiting = queue.run(second.run);
  first.fail();
  await expect(failing).rejects.toThrow('failed');
  await new Promise((resolve) => setImmediate(resolve));
  second.end();
  expect(await waiting).toBe('done');
});
