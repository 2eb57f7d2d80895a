import { ServerClock } from './server-clock';

const NOW = 1_800_000_000_000;

describe('the clock of the database', () => {
  beforeEach(() => void jest.useFakeTimers({ now: NOW }));
  afterEach(() => void jest.useRealTimers());

  it('is unknown until a statement has told it, and again after a reset', () => {
    const clock = new ServerClock();
    expect(clock.instantIn(100)).toBeNull();
    clock.observe(NOW + 5_000, NOW);
    expect(clock.instantIn(100)).toBe(NOW + 5_100);
    clock.reset();
    expect(clock.instantIn(100)).toBeNull();
  });

  it('is estimated by the fastest statement of the last minute', () => {
    const clock = new ServerClock();
    clock.observe(NOW + 900, NOW);
    clock.observe(NOW + 20, NOW);
    clock.observe(NOW + 4_000, NOW);
    expect(clock.instantIn(0)).toBe(NOW + 20);
    jest.setSystemTime(NOW + 60_000);
    clock.observe(NOW + 60_050, NOW + 60_000);
    expect(clock.instantIn(0)).toBe(NOW + 60_050);
  });
});
