import * as fc from 'fast-check';
import { SECONDS, type ModelOptions } from './model';

/** Numbers choose among what is there when the action is done: the n-th session, modulo how many there are. */
export type Action = { readonly instance: 0 | 1; readonly user: 0 | 1 } & (
  | {
      readonly kind:
        'open' | 'login' | 'wrongPassword' | 'list' | 'disable' | 'enable' | 'prune' | 'dryRun' | 'restart';
    }
  | { readonly kind: 'refresh' | 'refreshTwice' | 'logout' | 'changePassword' | 'revoke'; readonly session: number }
  | { readonly kind: 'replay' | 'authenticate'; readonly session: number; readonly token: number }
  | { readonly kind: 'logoutAll'; readonly session: number; readonly keepCurrent: boolean }
  | { readonly kind: 'wait'; readonly ms: number }
);

const base = { instance: fc.constantFrom(0 as const, 1 as const), user: fc.constantFrom(0 as const, 1 as const) };
const session = fc.nat({ max: 20 });
const token = fc.nat({ max: 20 });

const kind = <K extends Action['kind']>(...kinds: K[]): fc.Arbitrary<K> => fc.constantFrom(...kinds);

/** The limits in use and a millisecond beside them, and now and then a clock that is set back. */
const moments = Object.values(SECONDS).flatMap((seconds) => [seconds * 1000 - 1, seconds * 1000]);
const ms = fc.oneof(
  fc.constantFrom(1, 1_000, 9_999, 10_000, ...moments),
  fc.integer({ min: 1, max: 1_000_000 }),
  fc.integer({ min: -30_000, max: -1 }),
);

export const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ ...base, kind: kind('open') }) },
  {
    weight: 3,
    arbitrary: fc.record({ ...base, kind: kind('login', 'wrongPassword', 'list', 'prune', 'dryRun', 'restart') }),
  },
  { weight: 1, arbitrary: fc.record({ ...base, kind: kind('disable', 'enable', 'enable') }) },
  { weight: 8, arbitrary: fc.record({ ...base, kind: kind('refresh'), session }) },
  {
    weight: 3,
    arbitrary: fc.record({ ...base, kind: kind('refreshTwice', 'logout', 'changePassword', 'revoke'), session }),
  },
  { weight: 5, arbitrary: fc.record({ ...base, kind: kind('replay', 'authenticate'), session, token }) },
  { weight: 4, arbitrary: fc.record({ ...base, kind: kind('authenticate'), session, token: fc.constant(0) }) },
  { weight: 1, arbitrary: fc.record({ ...base, kind: kind('logoutAll'), session, keepCurrent: fc.boolean() }) },
  { weight: 6, arbitrary: fc.record({ ...base, kind: kind('wait'), ms }) },
);

export const options: fc.Arbitrary<ModelOptions> = fc
  .record({
    sessionPolicy: fc.constantFrom('multi' as const, 'multi' as const, 'single' as const, 'max_count' as const),
    maxSessions: fc.integer({ min: 2, max: 3 }),
    onSessionLimit: fc.constantFrom('revoke_oldest' as const, 'reject' as const),
    tokens: fc.constantFrom(
      { rotateRefreshTokens: true, refreshReuseGraceSeconds: 0 },
      { rotateRefreshTokens: true, refreshReuseGraceSeconds: 10 },
      { rotateRefreshTokens: false, refreshReuseGraceSeconds: 0 },
    ),
  })
  .map(({ tokens, ...rest }) => ({ ...rest, ...tokens }));
