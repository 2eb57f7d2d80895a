import { createHash } from 'node:crypto';
import { Clock } from '../../libs/auth/src/base/clock';
import { ClientInspector } from '../../libs/auth/src/history/event-log';
import { Reissue } from '../../libs/auth/src/sessions/rotate';
import { TokenIssuer } from '../../libs/auth/src/tokens/tokens';
import { refreshWithCookies } from '../support/cookie-refresh';
import { DAY } from '../support/driven-clock';
import type { TestApplication } from '../support/test-application';
import { PASSWORD } from '../support/test-application';
import type { Fixture, RaceEnvironment, SessionRow } from './environment';
import type { Settled } from './interleave';
import { NEW_PASSWORD, REUSE, type EndingOperation } from './operations';

/** Which instances the two operations use, and which of the operations is held at each of its calls in turn. */
export interface Setting {
  readonly instances: 1 | 2;
  readonly held: 'first' | 'second';
}

/** Runs a scenario once for each call of the held operation. Returns the number of these calls. */
export type Scenario = (environment: RaceEnvironment, setting: Setting) => Promise<number>;

interface Pair {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/**
 * Addresses in two networks. Attempts from one network would wait for each other within the process, which the
 * interleaver cannot observe.
 */
const HOME = { ipAddress: '192.0.2.1' };
const ELSEWHERE = { ipAddress: '198.51.100.1' };
const CLIENTS = [HOME, ELSEWHERE] as const;

export async function atEveryCall(once: (stopAt: number) => Promise<boolean>): Promise<number> {
  let stopAt = 1;
  while (await once(stopAt)) stopAt++;
  return stopAt - 1;
}

export function instancesFor(environment: RaceEnvironment, { instances }: Setting): [TestApplication, TestApplication] {
  return [environment.apps[0], environment.apps[instances - 1]!];
}

/** Runs both operations while one of them is held. Returns the outcomes as [a, b]. */
export async function interleave<A, B>(
  environment: RaceEnvironment,
  stopAt: number,
  { held }: Setting,
  a: () => Promise<A>,
  b: () => Promise<B>,
  between?: () => Promise<void>,
): Promise<[Settled<A>, Settled<B>] | null> {
  const watch = between ? { between } : {};
  if (held === 'first') return environment.interleaver.run(stopAt, { first: a, second: b, ...watch });
  const outcome = await environment.interleaver.run(stopAt, { first: b, second: a, ...watch });
  return outcome && [outcome[1], outcome[0]];
}

/** In either order, the session ends once, with all its tokens, and its stored end does not change. */
export function refreshAgainstEnd(operation: EndingOperation): Scenario {
  return (environment, setting) =>
    atEveryCall(async (stopAt) => {
      const fixture = await environment.newFixture();
      const { userId, session } = fixture;
      const [app, rival] = instancesFor(environment, setting);
      const end = await operation.prepare(fixture, rival);
      let endedBetween: SessionRow[] = [];
      const between = async (): Promise<void> => {
        endedBetween = (await environment.sessionsOf(userId)).filter(({ state }) => state !== 'active');
      };
      const refresh = (): Promise<Pair> => app.auth.refresh(session.refreshToken);
      const outcome = await interleave(environment, stopAt, setting, refresh, end, between);
      if (!outcome) return false;
      const [refreshed, ended] = outcome;
      expect(ended.code).toBeUndefined();
      expect([undefined, 'invalid_refresh_token']).toContain(refreshed.code);

      const rows = await environment.sessionsOf(userId);
      for (const row of endedBetween) expect(rows).toContainEqual(row);
      await expectEnded(fixture, operation, rows);
      if (refreshed.value) await expectRevoked(environment, refreshed.value);
      await expectRevoked(environment, session);
      expect(await environment.sessionsOf(userId)).toEqual(rows);
      await expectPublished(fixture, operation, rows);
      return true;
    });
}

async function expectEnded(
  { environment, userId, session, other }: Fixture,
  operation: EndingOperation,
  rows: readonly SessionRow[],
): Promise<void> {
  const stateOf = (id: string): string | undefined => rows.find((row) => row.id === id)?.state;
  expect(['logged_out', 'revoked']).toContain(stateOf(session.sessionId));
  expect(stateOf(other.sessionId) === 'active').toBe(!operation.endsOther);
  const { generation } = rows.find((row) => row.id === session.sessionId)!;
  expect((await environment.eventsOf(userId))['token_refresh']).toBe(generation);
}

async function expectRevoked(environment: RaceEnvironment, pair: Pair): Promise<void> {
  const [app] = environment.apps;
  expect(await app.auth.authenticate(pair.accessToken)).toBeNull();
  await expect(app.auth.refresh(pair.refreshToken)).rejects.toMatchObject({ code: 'invalid_refresh_token' });
}

async function expectLive(environment: RaceEnvironment, pair: Pair): Promise<void> {
  const [app] = environment.apps;
  expect(await app.auth.authenticate(pair.accessToken)).not.toBeNull();
  await expect(app.auth.refresh(pair.refreshToken)).resolves.toBeDefined();
}

async function expectPublished(
  { environment, userId, session }: Fixture,
  operation: EndingOperation,
  rows: readonly SessionRow[],
): Promise<void> {
  const ended = rows.filter(({ state }) => state !== 'active').length;
  const ends = environment.sent('user_logged_out');
  expect(ends.filter((end) => end.session.id === session.sessionId)).toHaveLength(1);
  expect(ends).toHaveLength(ended);
  const reuses = operation === REUSE ? 1 : 0;
  expect(environment.sent('token_reuse_detected')).toHaveLength(reuses);
  expect((await environment.eventsOf(userId))['token_reuse'] ?? 0).toBe(reuses);
}

/** One presentation of the token returns a pair, and the other presentation is reuse. */
export const refreshAgainstItself: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const { userId, session } = await environment.newFixture();
    const [refresh, again] = instancesFor(environment, setting).map(
      (app) => () => app.auth.refresh(session.refreshToken),
    );
    const outcome = await interleave(environment, stopAt, setting, refresh!, again!);
    if (!outcome) return false;
    expect(outcome.map(({ code }) => code).sort()).toEqual(['invalid_refresh_token', undefined]);
    const states = (await environment.sessionsOf(userId)).map(({ state }) => state);
    expect(states).toEqual(['revoked', 'revoked']);
    expect(environment.sent('token_reuse_detected')).toMatchObject([{ sessionsEnded: 2 }]);
    expect(await environment.eventsOf(userId)).toMatchObject({ token_refresh: 2, token_reuse: 1 });
    await expectRevoked(environment, outcome.find(({ value }) => value)!.value!);
    return true;
  });

/** Within a grace period, both refreshes return the same pair, and no session ends. */
export const refreshAgainstItsRepetition: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const { userId, session } = await environment.newFixture();
    const [refresh, again] = instancesFor(environment, setting).map(
      (app) => () => app.auth.refresh(session.refreshToken),
    );
    const outcome = await interleave(environment, stopAt, setting, refresh!, again!);
    if (!outcome) return false;
    await expectOnePair(environment, outcome, userId, { token_refresh: 2, replay: 1 });
    return true;
  });

/** Returns the refreshes of two tabs that present one pair, of which the access cookie may have expired. */
function tabs(
  environment: RaceEnvironment,
  setting: Setting,
  { refreshToken, accessToken = null }: { readonly refreshToken: string; readonly accessToken?: string | null },
): [() => Promise<Pair>, () => Promise<Pair>] {
  const [one, two] = instancesFor(environment, setting);
  const refreshAt = (app: TestApplication) => () => refreshWithCookies(app, { refreshToken, accessToken }, HOME);
  return [refreshAt(one), refreshAt(two)];
}

/** If two tabs present the live pair, one tab rotates the pair, and both tabs receive the next pair. */
export const wakingTabs: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    // A bearer client refreshed the session, so a cookie refresh rotates the pair instead of returning it unchanged.
    const { userId, session } = await environment.newFixture();
    const outcome = await interleave(environment, stopAt, setting, ...tabs(environment, setting, session));
    if (!outcome) return false;
    await expectOnePair(environment, outcome, userId, { token_refresh: 2, replay: 1 });
    return true;
  });

/**
 * A tab that presents the live pair just after the pair was issued receives the same pair or the next pair. The
 * other tab rotates the pair.
 */
export const wakingTabAgainstRotation: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const { userId, session } = await environment.newFixture();
    const presented = { refreshToken: session.refreshToken, accessToken: null };
    const pair = await refreshWithCookies(environment.apps[0], presented, HOME);
    const [waking] = tabs(environment, setting, pair);
    const [, rotating] = tabs(environment, setting, { refreshToken: pair.refreshToken });
    const outcome = await interleave(environment, stopAt, setting, waking, rotating);
    if (!outcome) return false;
    const [woken, rotated] = outcome;
    expect(rotated.value).toBeDefined();
    expect([pair.refreshToken, rotated.value!.refreshToken]).toContain(woken.value?.refreshToken);
    expect(environment.sent('token_reuse_detected')).toEqual([]);
    expect((await environment.eventsOf(userId))['token_refresh']).toBe(3);
    await expectLive(environment, rotated.value!);
    return true;
  });

async function expectOnePair(
  environment: RaceEnvironment,
  [one, two]: readonly [Settled<Pair>, Settled<Pair>],
  userId: string,
  events: Record<string, number>,
): Promise<void> {
  expect(one.value).toBeDefined();
  expect(two.value).toEqual(one.value);
  expect((await environment.sessionsOf(userId)).map(({ state }) => state)).toEqual(['active', 'active']);
  expect(environment.sent('token_reuse_detected')).toEqual([]);
  expect(await environment.eventsOf(userId)).toMatchObject(events);
  await expectLive(environment, one.value!);
}

/** Creates a fixture whose session was refreshed from HOME, with a pair that can be replayed. */
async function newReplayable(environment: RaceEnvironment): Promise<Fixture & { readonly presented: string }> {
  const fixture = await environment.newFixture();
  const { session } = fixture;
  const pair = await environment.apps[0].auth.refresh(session.refreshToken, HOME);
  return { ...fixture, presented: session.refreshToken, session: { ...session, ...pair } };
}

/** A replay from another network returns the pair before its first use, or is reuse after it. */
export const replayAgainstFirstUse: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const fixture = await newReplayable(environment);
    const { session, presented } = fixture;
    const [app, rival] = instancesFor(environment, setting);
    const replay = (): Promise<Pair> => rival.auth.refresh(presented, ELSEWHERE);
    let between: SessionRow | undefined;
    const outcome = await interleave(
      environment,
      stopAt,
      setting,
      replay,
      () => app.auth.authenticate(session.accessToken),
      async () => void (between = await environment.sessionOf(fixture)),
    );
    if (!outcome) return false;
    const [replayed, used] = outcome;
    const { state, replay_count: replays, first_used_at: firstUse } = await environment.sessionOf(fixture);
    // The expected outcome depends on the state that was stored while one operation was held.
    if (between!.first_used_at !== null && between!.replay_count === 0) expect(replayed.code).toBeDefined();
    if (between!.replay_count > 0) expect(replayed.value).toBeDefined();
    if (replayed.value) {
      expect(replayed.value.accessToken).toBe(session.accessToken);
      expect(used.value).not.toBeNull();
      expect([state, replays]).toEqual(['active', 1]);
      expect(environment.sent('token_reuse_detected')).toEqual([]);
    } else {
      expect([state, replays]).toEqual(['revoked', 0]);
      expect(environment.sent('token_reuse_detected')).toHaveLength(1);
    }
    expect(firstUse).not.toBeNull();
    return true;
  });

/** The first use of an access token that a refresh has replaced is not stored for the next access token. */
export const firstUseAgainstRefresh: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const fixture = await newReplayable(environment);
    const { session } = fixture;
    const [app, rival] = instancesFor(environment, setting);
    const outcome = await interleave(
      environment,
      stopAt,
      setting,
      () => app.auth.authenticate(session.accessToken),
      () => rival.auth.refresh(session.refreshToken, HOME),
    );
    if (!outcome) return false;
    expect(outcome[1].value).toBeDefined();
    expect((await environment.sessionOf(fixture)).first_used_at).toBeNull();
    // A client that changed its network in the meantime can therefore still receive the response again.
    await expect(app.auth.refresh(session.refreshToken, ELSEWHERE)).resolves.toEqual(outcome[1].value);
    expect(environment.sent('token_reuse_detected')).toEqual([]);
    return true;
  });

/** If the limit allows one more replay, one of two replays returns the pair and the other replay is refused. */
export const replayAgainstReplayAtTheLimit: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const fixture = await newReplayable(environment);
    const { session, presented } = fixture;
    const [app] = environment.apps;
    await app.dataSource.query(`UPDATE auth_sessions SET replay_count = 99 WHERE id = '${session.sessionId}'`);
    const [one, two] = instancesFor(environment, setting).map((on) => () => on.auth.refresh(presented, HOME));
    const outcome = await interleave(environment, stopAt, setting, one!, two!);
    if (!outcome) return false;
    expect(outcome.map(({ code }) => code).sort()).toEqual(['invalid_refresh_token', undefined]);
    expect(await environment.sessionOf(fixture)).toMatchObject({ state: 'active', replay_count: 100 });
    expect(environment.sent('token_reuse_detected')).toEqual([]);
    return true;
  });

/** A replay returns the pair before the pair is refreshed, or is reuse afterwards. */
export const replayAgainstRefresh: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const fixture = await newReplayable(environment);
    const { session, presented } = fixture;
    const before = await environment.sessionOf(fixture);
    const [app, rival] = instancesFor(environment, setting);
    let between: SessionRow | undefined;
    const outcome = await interleave(
      environment,
      stopAt,
      setting,
      () => rival.auth.refresh(presented, HOME),
      () => app.auth.refresh(session.refreshToken, HOME),
      async () => void (between = await environment.sessionOf(fixture)),
    );
    if (!outcome) return false;
    const [replayed, refreshed] = outcome;
    // The expected outcome depends on the state that was stored while one operation was held.
    if (between!.generation > before.generation) expect(replayed.code).toBeDefined();
    if (between!.replay_count > 0) expect(replayed.value).toBeDefined();
    if (replayed.value) {
      expect(replayed.value.accessToken).toBe(session.accessToken);
      expect(environment.sent('token_reuse_detected')).toEqual([]);
      await expectLive(environment, refreshed.value!);
    } else {
      expect((await environment.sessionOf(fixture)).state).toBe('revoked');
      expect(environment.sent('token_reuse_detected')).toHaveLength(1);
      if (refreshed.value) await expectRevoked(environment, refreshed.value);
    }
    return true;
  });

/** If a replay returns a pair while its session ends, the pair is revoked after both operations. */
export function replayAgainstEnd(operation: EndingOperation): Scenario {
  return (environment, setting) =>
    atEveryCall(async (stopAt) => {
      const fixture = await newReplayable(environment);
      const { presented } = fixture;
      const [app, rival] = instancesFor(environment, setting);
      const end = await operation.prepare(fixture, rival);
      const replay = (): Promise<Pair> => app.auth.refresh(presented, HOME);
      let between: SessionRow | undefined;
      const outcome = await interleave(
        environment,
        stopAt,
        setting,
        replay,
        end,
        async () => void (between = await environment.sessionOf(fixture)),
      );
      if (!outcome) return false;
      const [replayed, ended] = outcome;
      expect(ended.code).toBeUndefined();
      expect([undefined, 'invalid_refresh_token']).toContain(replayed.code);
      if (replayed.value) await expectRevoked(environment, replayed.value);
      const row = await environment.sessionOf(fixture);
      expect(['logged_out', 'revoked']).toContain(row.state);
      expect(row.replay_count).toBe(replayed.value ? 1 : 0);
      if (between!.state !== 'active') expect(row).toEqual(between);
      expect(environment.sent('token_reuse_detected')).toEqual([]);
      return true;
    });
}

/** In either order, the pair that the password change returns is valid after both operations. */
export const refreshAgainstChangeInItsSession: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const { userId, session } = await environment.newFixture();
    const principal = await environment.principal(session.accessToken);
    const [app, rival] = instancesFor(environment, setting);
    const outcome = await interleave(
      environment,
      stopAt,
      setting,
      () => app.auth.refresh(session.refreshToken),
      () => rival.auth.changePassword(principal, { currentPassword: PASSWORD, newPassword: NEW_PASSWORD }),
    );
    if (!outcome) return false;
    const [refreshed, changed] = outcome;
    expect(changed.code).toBeUndefined();
    expect([undefined, 'invalid_refresh_token']).toContain(refreshed.code);
    // The tokens of the previous family are revoked, not used.
    if (refreshed.value) await expectRevoked(environment, refreshed.value);
    await expectRevoked(environment, session);
    expect(environment.sent('token_reuse_detected')).toEqual([]);
    expect((await environment.eventsOf(userId))['token_refresh']).toBe(refreshed.value ? 2 : 1);
    await expectLive(environment, changed.value!);
    return true;
  });

/** Either a reauthentication or a concurrent refresh succeeds, because each replaces the tokens of the other. */
export const refreshAgainstReauthentication: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const { userId, session } = await environment.newFixture();
    const principal = await environment.principal(session.accessToken);
    const [app, rival] = instancesFor(environment, setting);
    const outcome = await interleave(
      environment,
      stopAt,
      setting,
      () => app.auth.refresh(session.refreshToken),
      () => rival.auth.reauthenticate(principal, PASSWORD),
    );
    if (!outcome) return false;
    const [refreshed, confirmed] = outcome;
    expect(outcome.filter(({ value }) => value)).toHaveLength(1);
    if (refreshed.value) expect(confirmed.code).toBe('access_token_invalid');
    else expect(refreshed.code).toBe('invalid_refresh_token');
    expect(await environment.eventsOf(userId)).toMatchObject(
      refreshed.value ? { token_refresh: 2 } : { token_refresh: 1, reauthentication: 1 },
    );
    expect(environment.sent('token_reuse_detected')).toEqual([]);
    await expectLive(environment, (refreshed.value ?? confirmed.value)!);
    return true;
  });

/**
 * One of two reauthentications returns a pair. The scenario executes only the transitions, because a session
 * verifies one password at a time.
 */
export const reauthenticationAgainstItself: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const { userId, session } = await environment.newFixture();
    const { sessionId: id } = await environment.principal(session.accessToken);
    const current = {
      id,
      userId,
      methods: '{}',
      accessDigest: createHash('sha256').update(session.accessToken).digest('hex'),
    };
    const [one, two] = instancesFor(environment, setting).map((app, index) => async () => {
      const client = app.nest.get(ClientInspector).inspect(CLIENTS[index]!);
      const { tokens, digests } = app.nest.get(TokenIssuer).issueFamily(id, app.nest.get(Clock).now());
      const reissued = await app.nest.get(Reissue).reissueAfterReauthentication(current, digests, [], client);
      return reissued ? tokens : null;
    });
    const outcome = await interleave(environment, stopAt, setting, one!, two!);
    if (!outcome) return false;
    const pairs = outcome.flatMap(({ value }) => value ?? []);
    expect(pairs).toHaveLength(1);
    expect((await environment.eventsOf(userId))['reauthentication']).toBe(1);
    await expectLive(environment, pairs[0]!);
    return true;
  });

/** Two concurrent logins never exceed the limit of sessions, even if they are the first logins of the user. */
export function loginAgainstLogin({
  limit,
  before,
  rejects,
}: {
  limit: number;
  before: number;
  rejects: boolean;
}): Scenario {
  return (environment, setting) =>
    atEveryCall(async (stopAt) => {
      const userId = await environment.newUser();
      for (let i = 0; i < before; i++) await environment.open(userId);
      const credentials = { username: environment.username(), password: PASSWORD };
      const [login, rival] = instancesFor(environment, setting).map(
        (app, index) => () => app.auth.login(credentials, CLIENTS[index]),
      );
      const outcome = await interleave(environment, stopAt, setting, login!, rival!);
      if (!outcome) return false;
      const active = (await environment.sessionsOf(userId)).filter(({ state }) => state === 'active');
      expect(active).toHaveLength(Math.min(limit, before + 2));
      const refused = rejects ? Math.max(0, before + 2 - limit) : 0;
      expect(outcome.filter(({ code }) => code === 'session_limit_reached')).toHaveLength(refused);
      expect(outcome.filter(({ value }) => value)).toHaveLength(2 - refused);
      expect((await environment.eventsOf(userId))['login_success']).toBe(before + 2 - refused);
      return true;
    });
}

/** One of two deletions ends the session, and the other deletion finds no session. The end is published once. */
export const deleteAgainstDelete: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const { userId, session } = await environment.newFixture();
    const [end, rival] = instancesFor(environment, setting).map(
      (app) => () => app.auth.revokeSession(userId, session.sessionId).then(() => 'revoked'),
    );
    const outcome = await interleave(environment, stopAt, setting, end!, rival!);
    if (!outcome) return false;
    expect(outcome.map(({ value, code }) => value ?? code).sort()).toEqual(['revoked', 'session_not_found']);
    expect((await environment.eventsOf(userId))['session_revoked']).toBe(1);
    expect(environment.sent('user_logged_out')).toHaveLength(1);
    return true;
  });

/** The end that is stored first is not replaced by the end of the other operation. */
export const logoutAgainstDelete: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const fixture = await environment.newFixture();
    const { userId, session } = fixture;
    const principal = await environment.principal(session.accessToken);
    const [app, rival] = instancesFor(environment, setting);
    let between: SessionRow | undefined;
    const outcome = await interleave(
      environment,
      stopAt,
      setting,
      () => app.auth.logout(principal),
      () => rival.auth.revokeSession(userId, session.sessionId),
      async () => void (between = await environment.sessionOf(fixture)),
    );
    if (!outcome) return false;
    const row = await environment.sessionOf(fixture);
    expect(row.state).not.toBe('active');
    if (between!.state !== 'active') expect(row).toEqual(between);
    return true;
  });

/** One of two password changes succeeds, and only the session of that password change continues. */
export const changeAgainstChange: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const { session, other } = await environment.newFixture();
    const principals = [
      await environment.principal(session.accessToken),
      await environment.principal(other.accessToken),
    ];
    const [change, rival] = instancesFor(environment, setting).map(
      (app, index) => () =>
        app.auth.changePassword(
          principals[index]!,
          { currentPassword: PASSWORD, newPassword: `a new password ${index}` },
          CLIENTS[index],
        ),
    );
    const outcome = await interleave(environment, stopAt, setting, change!, rival!);
    if (!outcome) return false;
    const winner = outcome.findIndex(({ value }) => value);
    expect(outcome.filter(({ value }) => value)).toHaveLength(1);
    expect(['access_token_invalid', 'invalid_field']).toContain(outcome[1 - winner]!.code);
    const [app] = environment.apps;
    expect(await app.auth.authenticate(outcome[winner]!.value!.accessToken)).not.toBeNull();
    const username = environment.username();
    await app.auth.login({ username, password: `a new password ${winner}` });
    const lost = app.auth.login({ username, password: `a new password ${1 - winner}` });
    await expect(lost).rejects.toMatchObject({ code: 'invalid_credentials' });
    return true;
  });

/** No session that was opened with the old password outlives the password change. */
export const loginAgainstChange: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const { other } = await environment.newFixture();
    const principal = await environment.principal(other.accessToken);
    const [app, rival] = instancesFor(environment, setting);
    const credentials = { username: environment.username(), password: PASSWORD };
    const login = (): Promise<Pair> => app.auth.login(credentials, HOME);
    const change = (): Promise<unknown> =>
      rival.auth.changePassword(principal, { currentPassword: PASSWORD, newPassword: NEW_PASSWORD }, ELSEWHERE);
    const outcome = await interleave(environment, stopAt, setting, login, change);
    if (!outcome) return false;
    const [loggedIn, changed] = outcome;
    expect(changed.code).toBeUndefined();
    if (loggedIn.value) await expectRevoked(environment, loggedIn.value);
    else expect(loggedIn.code).toBe('invalid_credentials');
    return true;
  });

/**
 * By the clock of the pruning instance, which is ahead, the session has expired. The session ends before the
 * refresh, or continues after it with the new pair.
 */
export const refreshAgainstPruning: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const fixture = await environment.newFixture();
    const { session } = fixture;
    const [app, ahead] = environment.apps;
    app.clock.advance(6 * DAY);
    ahead.clock.advance(7 * DAY);
    const refresh = (): Promise<Pair> => app.auth.refresh(session.refreshToken);
    const outcome = await interleave(environment, stopAt, setting, refresh, () => ahead.pruning.prune());
    app.clock.advance(DAY);
    if (!outcome) return false;
    const [refreshed, pruned] = outcome;
    expect(pruned.code).toBeUndefined();
    expect((await environment.sessionOf(fixture)).state).toBe(refreshed.value ? 'active' : 'expired');
    const published = environment.sent('user_logged_out').map((end) => end.session.id);
    expect(published.filter((id) => id === session.sessionId)).toHaveLength(refreshed.value ? 0 : 1);
    return true;
  });

/** A session ends while pruning reschedules it. The end determines when its row may be deleted. */
export const logoutAgainstPruning: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const [app, rival] = environment.apps;
    const advance = (ms: number): void => environment.apps.forEach(({ clock }) => clock.advance(ms));
    const { userId } = await environment.newFixture();
    const opened = await environment.open(userId);
    // The session is due for pruning by its original expiry, but was extended by a refresh.
    advance(6 * DAY);
    const session = { ...opened, ...(await app.auth.refresh(opened.refreshToken)) };
    const principal = await environment.principal(session.accessToken);
    advance(2 * DAY);
    const fixture = { environment, userId, session, other: opened, usedToken: opened.refreshToken };
    const outcome = await interleave(
      environment,
      stopAt,
      setting,
      () => app.auth.logout(principal),
      () => rival.pruning.prune(),
    );
    if (!outcome) return false;
    expect(outcome.map(({ code }) => code)).toEqual([undefined, undefined]);
    const row = await environment.sessionOf(fixture);
    expect([row.state, row.check_at]).toEqual(['logged_out', principal.authenticatedAt.getTime() + 90 * DAY]);
    expect(environment.sent('user_logged_out').filter((end) => end.session.id === session.sessionId)).toHaveLength(1);
    return true;
  });
