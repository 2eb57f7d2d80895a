import { ServerClock } from '../../libs/auth/src/database/server-clock';

const SERVER = 1_800_000_000_000;

describe('the estimated time of the database', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('is unknown until a statement reports the time, and again after a reset', () => {
    const clock = new ServerClock();
    expect(clock.timeIn(100)).toBeNull();
    clock.observe(SERVER, performance.now());
    expect(clock.timeIn(100)).toBe(SERVER + 100);
    jest.advanceTimersByTime(50);
    expect(clock.timeIn(100)).toBe(SERVER + 150);
    clock.reset();
    expect(clock.timeIn(100)).toBeNull();
  });

  it('is based on the fastest statement of the last minute', () => {
    const clock = new ServerClock();
    for (const delay of [900, 20, 4_000]) clock.observe(SERVER + delay, performance.now());
    expect(clock.timeIn(0)).toBe(SERVER + 20);
    jest.advanceTimersByTime(60_000);
    clock.observe(SERVER + 60_050, performance.now());
    expect(clock.timeIn(0)).toBe(SERVER + 60_050);
  });
});
