import { SessionAdministration } from 'nestjs-session-auth';
import { Activity } from '../../libs/auth/src/sessions/activity';
import { Prune } from '../../libs/auth/src/retention/prune';
import { Throttle } from '../../libs/auth/src/throttle/throttle';
import type { TestApplication } from '../support/test-application';
import { scenario, symmetric, type RaceEnvironment } from './environment';
import { charge, operationOf, reauthenticate } from './transitions';

/** Races between a transaction that reads rows to make a decision, and a transaction that changes these rows. */

async function failureCounts(environment: RaceEnvironment, condition = ''): Promise<number[]> {
  const sql = `SELECT failure_count FROM auth_login_failures ${condition}`;
  return (await environment.query<{ failure_count: number }>(sql)).map((row) => Number(row.failure_count));
}

export const attemptAgainstAttemptAtTheLimit = symmetric(async (environment, both, [app]) => {
  const userId = await environment.newUser();
  for (let i = 0; i < 9; i++) await charge(app, userId);
  const outcome = await both((one) => charge(one, userId));
  const results = outcome.map(({ value, code }) => value?.counters[0]!.failures ?? code);
  expect(results).toEqual(expect.arrayContaining([10, 'too_many_attempts']));
});

export const attemptAgainstSuccess = scenario(async (environment, race, [app, rival]) => {
  const userId = await environment.newUser();
  const first = await charge(app, userId);
  const [, later] = await race.run(
    () => app.nest.get(Throttle).clearNow(first, operationOf(app)),
    () => charge(rival, userId),
  );
  const counts = await failureCounts(environment, `WHERE account_key = '${first.counters[0]!.owner}'`);
  expect(counts).toEqual(later.value!.counters[0]!.failures === 1 ? [1, 1] : []);
});

export const pruningAgainstFailure = scenario(async (environment, race, [app, rival]) => {
  await environment.newUser();
  const credentials = { username: environment.username(), password: 'a wrong password' };
  const failToLogIn = (on: TestApplication): Promise<unknown> => on.auth.login(credentials);
  await environment.query('DELETE FROM auth_login_failures');
  await expect(failToLogIn(app)).rejects.toMatchObject({ code: 'invalid_credentials' });
  await environment.query('UPDATE auth_login_failures SET expires_at = 1');
  const [pruned, failed] = await race.run(
    () => app.nest.get(Prune).removeDue('loginFailures', app.clock.now()),
    () => failToLogIn(rival),
  );
  expect([pruned.code, failed.code]).toEqual([undefined, 'invalid_credentials']);
  expect(await failureCounts(environment)).toEqual([1, 1]);
});

export const forgetAgainstDelete = scenario(async (environment, race, [app, rival]) => {
  const { userId, session } = await environment.newFixture();
  const [, deleted] = await race.run(
    () => app.auth.forgetUser(userId),
    () => rival.auth.revokeSession(userId, session.sessionId),
  );
  expect([undefined, 'session_not_found']).toContain(deleted.code);
  expect(environment.endsOf(session.sessionId)).toBe(1);
  expect(await environment.sessionsOf(userId)).toEqual([]);
});

/**
 * A reauthentication begins a new token family. Presenting a used token of the previous family is reuse before the
 * reauthentication, and has no effect afterwards.
 */
export const reuseAgainstReauthentication = scenario(async (environment, race, [app, rival]) => {
  const fixture = await environment.newFixture();
  const { userId, session, usedToken } = fixture;
  const [refreshed, reissued] = await race.run(
    () => app.auth.refresh(usedToken),
    () => reauthenticate(rival, userId, session),
  );
  expect(refreshed.code).toBe('invalid_refresh_token');
  expect((await environment.sessionOf(fixture)).state).toBe(reissued.value ? 'active' : 'revoked');
  expect(environment.sent('token_reuse_detected')).toHaveLength(reissued.value ? 0 : 1);
});

export const endOfInactiveAgainstActivity = scenario(async (environment, race, [app, rival]) => {
  const fixture = await environment.newFixture();
  const { userId, session } = fixture;
  const now = app.clock.now();
  const filter = { userId, inactiveSince: new Date(now + 1) };
  const [ended, recorded] = await race.run(
    () => app.nest.get(SessionAdministration).end(filter, { actor: 'carol' }),
    async () => {
      void rival.nest.get(Activity).record(session.sessionId, now + 1_000);
      await rival.nest.get(Activity).flush();
    },
  );
  expect([ended.code, recorded.code]).toEqual([undefined, undefined]);
  const { state, lastActivity } = await environment.sessionOf(fixture);
  expect([state, ended.value]).toEqual(lastActivity <= now ? ['revoked', 2] : ['active', 1]);
});

/** Scenarios by test title. */
export const ROW_LOCK_SCENARIOS = {
  'a used refresh token during a reauthentication is reuse or has no effect': reuseAgainstReauthentication,
  'an end for inactivity spares a session that is active in the meantime': endOfInactiveAgainstActivity,
  'a session that is deleted while its user is forgotten ends once': forgetAgainstDelete,
  'one of two attempts at the limit is refused': attemptAgainstAttemptAtTheLimit,
  'a success deletes no count of a later attempt': attemptAgainstSuccess,
  'a failed login during pruning stays counted': pruningAgainstFailure,
};
