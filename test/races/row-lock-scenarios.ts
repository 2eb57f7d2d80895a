import { createHash } from 'node:crypto';
import { SessionAdministration } from 'nestjs-session-auth';
import { Clock } from '../../libs/auth/src/base/clock';
import { type Client, ClientInspector, type Operation } from '../../libs/auth/src/history/event-log';
import { Activity } from '../../libs/auth/src/sessions/activity';
import { Reissue } from '../../libs/auth/src/sessions/rotate';
import { Prune } from '../../libs/auth/src/retention/prune';
import { type Charge, Throttle } from '../../libs/auth/src/throttle/throttle';
import { TokenIssuer } from '../../libs/auth/src/tokens/tokens';
import type { TestApplication } from '../support/test-application';
import { atEveryCall, instancesFor, interleave, type Scenario } from './scenarios';

/** Races between a transaction that reads rows to make a decision, and a transaction that changes these rows. */

function contextOf(app: TestApplication): { now: number; client: Client } {
  const client = app.nest.get(ClientInspector).inspect({ ipAddress: '192.0.2.1' });
  return { now: app.nest.get(Clock).now(), client };
}

/** Counts an attempt of the user with the method `otp`. */
async function charge(app: TestApplication, id: string): Promise<Charge> {
  const op: Operation = { client: contextOf(app).client, tx: null };
  const user = { id, username: 'any', passwordHash: null, active: true };
  const throttle = app.nest.get(Throttle);
  return throttle.charge(throttle.ofLogin('otp', 'any', user, op.client), op);
}

/** If one more failure begins a delay, one of two attempts is admitted. */
export const attemptAgainstAttemptAtTheLimit: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const userId = await environment.newUser();
    const [first, second] = instancesFor(environment, setting).map((app) => () => charge(app, userId));
    for (let i = 0; i < 9; i++) await first!();
    const outcome = await interleave(environment, stopAt, setting, first!, second!);
    if (!outcome) return false;
    const results = outcome.map(({ value, code }) => value?.counters[0]!.failures ?? code);
    expect(results).toEqual(expect.arrayContaining([10, 'too_many_attempts']));
    return true;
  });

/** A success deletes the counts of attempts that were counted before it, but none of later attempts. */
export const attemptAgainstSuccess: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const userId = await environment.newUser();
    const [app, rival] = instancesFor(environment, setting);
    const first = await charge(app, userId);
    const op: Operation = { client: contextOf(app).client, tx: null };
    const clear = (): Promise<void> => app.nest.get(Throttle).clearNow(first, op);
    const outcome = await interleave(environment, stopAt, setting, clear, () => charge(rival, userId));
    if (!outcome) return false;
    const rows: { failure_count: number }[] = await app.dataSource.query(
      `SELECT failure_count FROM auth_login_failures WHERE account_key = '${first.counters[0]!.owner}'`,
    );
    const isLater = outcome[1].value!.counters[0]!.failures === 1;
    expect(rows.map((row) => Number(row.failure_count))).toEqual(isLater ? [1, 1] : []);
    return true;
  });

/** A failed login that begins a new streak in a row that is due for pruning stays counted. */
export const pruningAgainstFailure: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const [app, rival] = instancesFor(environment, setting);
    await environment.newUser();
    const credentials = { username: environment.username(), password: 'a wrong password' };
    const failToLogIn = (on: TestApplication): Promise<unknown> => on.auth.login(credentials);
    await app.dataSource.query('DELETE FROM auth_login_failures');
    await expect(failToLogIn(app)).rejects.toMatchObject({ code: 'invalid_credentials' });
    await app.dataSource.query('UPDATE auth_login_failures SET expires_at = 1');
    const { now } = contextOf(app);
    const outcome = await interleave(
      environment,
      stopAt,
      setting,
      () => app.nest.get(Prune).removeDue('loginFailures', now),
      () => failToLogIn(rival),
    );
    if (!outcome) return false;
    expect(outcome.map(({ code }) => code)).toEqual([undefined, 'invalid_credentials']);
    const rows: { failure_count: number }[] = await app.dataSource.query(
      'SELECT failure_count FROM auth_login_failures',
    );
    expect(rows.map((row) => Number(row.failure_count))).toEqual([1, 1]);
    return true;
  });

/** A session that is deleted while its user is forgotten ends once. */
export const forgetAgainstDelete: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const { userId, session } = await environment.newFixture();
    const [app, rival] = instancesFor(environment, setting);
    const outcome = await interleave(
      environment,
      stopAt,
      setting,
      () => app.auth.forgetUser(userId),
      () => rival.auth.revokeSession(userId, session.sessionId),
    );
    if (!outcome) return false;
    expect([undefined, 'session_not_found']).toContain(outcome[1].code);
    const ended = environment.sent('user_logged_out').map((end) => end.session.id);
    expect(ended.filter((id) => id === session.sessionId)).toHaveLength(1);
    expect(await environment.sessionsOf(userId)).toEqual([]);
    return true;
  });

/**
 * A reauthentication begins a new token family. Presenting a used token of the previous family is reuse before the
 * reauthentication, and has no effect afterwards.
 */
export const reuseAgainstReauthentication: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const fixture = await environment.newFixture();
    const { userId, session, usedToken } = fixture;
    const { sessionId: id } = await environment.principal(session.accessToken);
    const current = {
      id,
      userId,
      methods: '{}',
      accessDigest: createHash('sha256').update(session.accessToken).digest('hex'),
    };
    const [app, rival] = instancesFor(environment, setting);
    const outcome = await interleave(
      environment,
      stopAt,
      setting,
      () => app.auth.refresh(usedToken),
      () => {
        const context = contextOf(rival);
        const { digests } = rival.nest.get(TokenIssuer).issueFamily(id, context.now);
        return rival.nest.get(Reissue).reissueAfterReauthentication(current, digests, [], context.client);
      },
    );
    if (!outcome) return false;
    expect(outcome[0].code).toBe('invalid_refresh_token');
    const isReissued = outcome[1].value;
    expect((await environment.sessionOf(fixture)).state).toBe(isReissued ? 'active' : 'revoked');
    expect(environment.sent('token_reuse_detected')).toHaveLength(isReissued ? 0 : 1);
    return true;
  });

/** A session that an administrator ends for inactivity is still inactive when it ends. */
export const endOfInactiveAgainstActivity: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const fixture = await environment.newFixture();
    const { userId, session } = fixture;
    const { now } = contextOf(environment.apps[0]);
    const inactiveSince = now + 1;
    const [app, rival] = instancesFor(environment, setting);
    const outcome = await interleave(
      environment,
      stopAt,
      setting,
      () =>
        app.nest.get(SessionAdministration).end({ userId, inactiveSince: new Date(inactiveSince) }, { actor: 'carol' }),
      async () => {
        void rival.nest.get(Activity).record(session.sessionId, now + 1_000);
        await rival.nest.get(Activity).flush();
      },
    );
    if (!outcome) return false;
    expect(outcome.map(({ code }) => code)).toEqual([undefined, undefined]);
    const [row]: { state: string; last_activity: string }[] = await app.dataSource.query(
      `SELECT state, last_activity FROM auth_sessions WHERE id = '${session.sessionId}'`,
    );
    const isInactive = Number(row!.last_activity) < inactiveSince;
    expect([row!.state, outcome[0].value]).toEqual(isInactive ? ['revoked', 2] : ['active', 1]);
    return true;
  });
