import { Crowd } from './crowd';

describe('a crowd', () => {
  it('is called one after another, those of each key apart', async () => {
    const crowd = new Crowd(10);
    const order: string[] = [];
    const waits = ['a', 'b', 'a'].map((key, index) => crowd.wait(key, 60_000).then(() => order.push(`${key}${index}`)));
    crowd.next('a');
    await waits[0];
    expect(order).toEqual(['a0']);
    crowd.next('a');
    crowd.next('a');
    crowd.next('b');
    await Promise.all(waits);
    expect(order).toEqual(['a0', 'a2', 'b1']);
  });

  it('waits no longer than it is told to, and leaves nothing behind', async () => {
    jest.useFakeTimers();
    const crowd = new Crowd(1);
    const wait = crowd.wait('a', 200);
    await jest.advanceTimersByTimeAsync(200);
    await wait;
    const again = crowd.wait('a', 200);
    crowd.next('a');
    await again;
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  it('is bounded: who comes beyond is told so at once', async () => {
    const crowd = new Crowd(1);
    const wait = crowd.wait('a', 60_000);
    await expect(crowd.wait('b', 60_000)).rejects.toMatchObject({ code: 'busy' });
    crowd.next('a');
    await wait;
  });
});
