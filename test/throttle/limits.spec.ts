import fc from 'fast-check';
import { begins, delayAfter, expiryAfter, refusal, UNTIL_RESET } from '../../libs/auth/src/throttle/throttle';

const NOW = 1_800_000_000_000;
const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;
const FAILED_LOGINS = { throttleFrom: 10, windowSeconds: 300, accountBlock: 'unfamiliar', signalAt: 5 } as const;
const LIMITS = { failedLogins: FAILED_LOGINS, absoluteTimeoutSeconds: 30 * 86_400 };
const STRICT = { ...LIMITS, failedLogins: { ...FAILED_LOGINS, accountBlock: 'strict' } } as const;

describe('the delay after a number of failures', () => {
  it('the delay is 30 seconds after the tenth failure, and doubles with each further failure, up to an hour', () => {
    const delays = Array.from({ length: 18 }, (_, index) => delayAfter(index + 1, 10) / SECOND);
    expect(delays).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 30, 60, 120, 240, 480, 960, 1920, 3600, 3600]);
    expect(delayAfter(1_000_000, 1)).toBe(HOUR);
  });

  it('no number of failures begins a delay if delays are off', () => {
    expect(delayAfter(1_000, false)).toBe(0);
  });
});

describe('the delay or block that an attempt begins', () => {
  it('a delay of a network is counted from the attempt, and its counter is kept for twice the delay', () => {
    expect(begins('network', 9, NOW, LIMITS, true)).toBeNull();
    expect(begins('network', 10, NOW, LIMITS, true)).toEqual({ until: NOW + 30 * SECOND, expiresAt: NOW + 300_000 });
    expect(begins('network', 15, NOW, LIMITS, true)).toEqual({
      until: NOW + 960 * SECOND,
      expiresAt: NOW + 1920 * SECOND,
    });
  });

  it('the 100th failure of an account begins a block of 24 hours', () => {
    expect(begins('account', 99, NOW, LIMITS, true)).toBeNull();
    for (const failures of [100, 101]) {
      expect(begins('account', failures, NOW, LIMITS, false)).toEqual({ until: NOW + DAY, expiresAt: NOW + DAY });
    }
  });

  it('a strict block never ends, but is kept for 30 days for an unknown name', () => {
    expect(begins('account', 100, NOW, STRICT, true)).toEqual({ until: UNTIL_RESET, expiresAt: UNTIL_RESET });
    expect(begins('account', 100, NOW, STRICT, false)).toEqual({ until: UNTIL_RESET, expiresAt: NOW + 30 * DAY });
  });

  it.each([false, 10, 200] as const)(
    'the 100th failure within a session delays parallel attempts with throttleFrom %s, until the session has ended',
    (throttleFrom) => {
      const begun = begins('session', 100, NOW, { ...LIMITS, failedLogins: { ...FAILED_LOGINS, throttleFrom } }, true)!;
      expect(begun.until).toBe(NOW + (throttleFrom === 10 ? HOUR : 30 * SECOND));
      expect(begun.expiresAt).toBe(NOW + 30 * DAY);
    },
  );
});

describe('the refusal of an attempt', () => {
  const scopes = ['network', 'account', 'session'] as const;
  const anyCounter = fc.record({
    scope: fc.constantFrom(...scopes),
    delayedUntil: fc.integer({ min: NOW - 2, max: NOW + 2 }),
  });

  it('an attempt is refused exactly until the longest delay or block of its counters has ended', () => {
    fc.assert(
      fc.property(fc.array(anyCounter, { minLength: 1, maxLength: 2 }), (counters) => {
        const longest = Math.max(...counters.map(({ delayedUntil }) => delayedUntil));
        const refused = refusal(counters, NOW);
        if (longest <= NOW) expect(refused).toBeNull();
        else expect(refused?.delayedUntil).toBe(longest);
        if (refused) expect(counters).toContain(refused);
      }),
    );
  });
});

it('counters are kept for the window, for 24 hours, and for as long as a session', () => {
  const kept = (['network', 'account', 'session'] as const).map((scope) => expiryAfter(scope, NOW, LIMITS) - NOW);
  expect(kept).toEqual([300_000, DAY, 30 * DAY]);
});
