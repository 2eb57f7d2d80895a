import * as fc from 'fast-check';
import * as logins from './login-deeds';
import type { Model } from './model';
import { SECONDS } from './options';
import * as refreshes from './refresh-deeds';
import * as sessions from './session-deeds';
import { stepsOf } from './step';
import * as upkeep from './upkeep-deeds';
import type { World } from './world';

type Steps = fc.Arbitrary<fc.AsyncCommand<Model, World>>;

const HOUR = 3_600_000;
const back = fc.oneof(fc.constant(0), fc.nat({ max: 9 }));
const isRight = fc.constantFrom(true, true, false);

/** Each limit in use and the millisecond before it; anything else; a clock that is set back; days. */
const limits = [...Object.values(SECONDS), 10, 30].flatMap((seconds) => [seconds * 1000 - 1, seconds * 1000]);
const ms = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...limits) },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 100_000 }) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 2 * HOUR }) },
  { weight: 1, arbitrary: fc.integer({ min: -30_000, max: -1 }) },
  { weight: 2, arbitrary: fc.constantFrom(24 * HOUR - 1, 24 * HOUR, 72 * HOUR) },
);

const STEPS: readonly (readonly [weight: number, steps: Steps])[] = [
  [14, stepsOf('openSession', {}, logins.openSession)],
  [5, stepsOf('login', { isRight: fc.boolean() }, logins.login)],
  [3, stepsOf('changePassword', { isRight }, logins.changePassword, true)],
  [1, stepsOf('resetPassword', {}, logins.resetPassword)],
  [16, stepsOf('refresh', {}, refreshes.refresh, true)],
  [8, stepsOf('replay', { back }, refreshes.replay, true)],
  [4, stepsOf('refreshTwice', { isApart: fc.boolean() }, refreshes.refreshTwice, true)],
  [10, stepsOf('authenticate', { back }, sessions.authenticate, true)],
  [3, stepsOf('list', {}, sessions.list, true)],
  [2, stepsOf('history', { limit: fc.integer({ min: 1, max: 60 }) }, sessions.history)],
  [2, stepsOf('logout', {}, sessions.logout, true)],
  [1, stepsOf('logoutTwice', {}, sessions.logoutTwice, true)],
  [3, stepsOf('logoutAll', { keepCurrent: fc.boolean() }, sessions.logoutAll, true)],
  [
    3,
    stepsOf(
      'revoke',
      { by: fc.constantFrom('user' as const, 'admin' as const), isOwn: fc.boolean() },
      sessions.revoke,
      true,
    ),
  ],
  [3, stepsOf('setActive', { active: fc.boolean() }, upkeep.setActive)],
  [1, stepsOf('disableUser', {}, upkeep.disableUser)],
  [2, stepsOf('enableUser', {}, upkeep.enableUser)],
  [14, stepsOf('wait', { ms }, upkeep.wait)],
  [6, stepsOf('prune', { isDry: fc.boolean() }, upkeep.prune)],
  [2, stepsOf('restart', {}, upkeep.restart)],
];

/** Up to thirty steps, whatever they are. */
export const commands = fc.commands(
  STEPS.map(([weight, steps]) => fc.oneof({ weight, arbitrary: steps })),
  { maxCommands: 30, size: 'max' },
);
