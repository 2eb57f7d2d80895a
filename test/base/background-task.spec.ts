import { Logger } from '@nestjs/common';
import { BackgroundTask } from '../../libs/auth/src/base/background-task';

describe('BackgroundTask', () => {
  let runs: (() => void)[];
  const work = (): Promise<void> => new Promise((resolve) => runs.push(resolve));
  const wait = (milliseconds: number): Promise<void> => jest.advanceTimersByTimeAsync(milliseconds);

  beforeAll(() => Logger.overrideLogger(false));
  beforeEach(() => {
    jest.useFakeTimers();
    runs = [];
  });
  afterEach(() => jest.useRealTimers());

  it('starts a run one interval after the previous run has ended, so that runs never overlap', async () => {
    const task = new BackgroundTask('test', 100, work);
    task.start(10);
    task.start(10);
    await wait(10);
    await wait(1_000);
    expect(runs).toHaveLength(1);
    task.start();
    runs[0]!();
    await wait(99);
    expect(runs).toHaveLength(1);
    await wait(1);
    expect(runs).toHaveLength(2);
  });

  it('schedules no run after it is paused during a run, until it is started again', async () => {
    const task = new BackgroundTask('test', 100, work);
    task.start();
    await wait(100);
    task.pause();
    task.start();
    await wait(1_000);
    expect([runs.length, jest.getTimerCount()]).toEqual([1, 0]);
    task.pause();
    runs[0]!();
    await wait(1_000);
    expect([runs.length, jest.getTimerCount()]).toEqual([1, 0]);
    task.start();
    await wait(100);
    expect(runs).toHaveLength(2);
  });

  it('waits for the current run when it is stopped, and starts no further run', async () => {
    const task = new BackgroundTask('test', 100, work);
    task.start();
    await wait(100);
    let isStopped = false;
    const stopped = task.stop().then(() => (isStopped = true));
    await wait(1_000);
    expect(isStopped).toBe(false);
    runs[0]!();
    await stopped;
    task.start();
    await wait(1_000);
    expect([runs.length, jest.getTimerCount()]).toEqual([1, 0]);
  });

  it('runs soon when asked to, unless a run is in progress, and keeps the interval between runs', async () => {
    const task = new BackgroundTask('test', 100, work);
    task.runSoon();
    task.runSoon();
    await wait(0);
    expect([runs.length, jest.getTimerCount()]).toEqual([1, 0]);
    task.runSoon();
    runs[0]!();
    await wait(1_000);
    expect([runs.length, jest.getTimerCount()]).toEqual([1, 0]);
    task.start();
    await wait(50);
    task.runSoon();
    await wait(0);
    expect(runs).toHaveLength(2);
    runs[1]!();
    await wait(99);
    expect(runs).toHaveLength(2);
    await wait(1);
    expect(runs).toHaveLength(3);
  });
});
