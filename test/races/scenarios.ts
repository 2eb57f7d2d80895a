import type { AuthSession } from 'nestjs-session-auth';
import { refreshWithCookies } from '../support/cookie-refresh';
import { DAY } from '../support/driven-clock';
import { PASSWORD, type TestApplication } from '../support/test-application';
import {
  CLIENTS,
  ELSEWHERE,
  HOME,
  scenario,
  symmetric,
  type Fixture,
  type RaceEnvironment,
  type Scenario,
} from './environment';
import type { Settled } from './interleaver';
import { CHANGE, REUSE, type EndingOperation } from './operations';
import { reauthenticate } from './transitions';

/** Races between operations of sessions and passwords. */

interface Pair {
  readonly accessToken: string;
  readonly refreshToken: string;
}

export const refreshAgainstEnd = (operation: EndingOperation): Scenario =>
  scenario(async (environment, race, [app, rival]) => {
    const fixture = await environment.newFixture();
    const { userId, session } = fixture;
    const end = (): Promise<unknown> => operation.end(rival, fixture);
    const refresh = (): Promise<Pair> => app.auth.refresh(session.refreshToken);
    const [refreshed, ended, between] = await race.run(refresh, end, () => environment.sessionsOf(userId));
    expect(ended.code).toBeUndefined();
    expect([undefined, 'invalid_refresh_token']).toContain(refreshed.code);

    const rows = await environment.sessionsOf(userId);
    for (const row of between) if (row.state !== 'active') expect(rows).toContainEqual(row);
    await expectEnded(fixture, operation, rows);
    if (refreshed.value) await expectRevoked(environment, refreshed.value);
    await expectRevoked(environment, session);
    expect(await environment.sessionsOf(userId)).toEqual(rows);
    await expectPublished(fixture, operation, rows);
  });

async function expectEnded(
  { environment, userId, session, other }: Fixture,
  operation: EndingOperation,
  rows: readonly AuthSession[],
): Promise<void> {
  const stateOf = (id: string): string | undefined => rows.find((row) => row.id === id)?.state;
  expect(['logged_out', 'revoked']).toContain(stateOf(session.sessionId));
  expect(stateOf(other.sessionId) === 'active').toBe(!operation.endsOther);
  const { generation } = rows.find((row) => row.id === session.sessionId)!;
  expect((await environment.eventsOf(userId))['token_refresh']).toBe(generation);
}

async function expectPublished(
  { environment, userId, session }: Fixture,
  operation: EndingOperation,
  rows: readonly AuthSession[],
): Promise<void> {
  expect(environment.endsOf(session.sessionId)).toBe(1);
  expect(environment.sent('user_logged_out')).toHaveLength(rows.filter(({ state }) => state !== 'active').length);
  const reuses = operation.name === REUSE.name ? 1 : 0;
  expect(environment.sent('token_reuse_detected')).toHaveLength(reuses);
  expect((await environment.eventsOf(userId))['token_reuse'] ?? 0).toBe(reuses);
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

function expectNoReuse(environment: RaceEnvironment): void {
  expect(environment.sent('token_reuse_detected')).toEqual([]);
}

export const refreshAgainstItself = symmetric(async (environment, both) => {
  const { userId, session } = await environment.newFixture();
  const outcome = await both((app) => app.auth.refresh(session.refreshToken));
  expect(outcome.map(({ code }) => code).sort()).toEqual(['invalid_refresh_token', undefined]);
  const states = (await environment.sessionsOf(userId)).map(({ state }) => state);
  expect(states).toEqual(['revoked', 'revoked']);
  expect(environment.sent('token_reuse_detected')).toMatchObject([{ sessionsEnded: 2 }]);
  expect(await environment.eventsOf(userId)).toMatchObject({ token_refresh: 2, token_reuse: 1 });
  await expectRevoked(environment, outcome.find(({ value }) => value)!.value!);
});

export const refreshAgainstItsRepetition = symmetric(async (environment, both) => {
  const { userId, session } = await environment.newFixture();
  await expectOnePair(environment, await both((app) => app.auth.refresh(session.refreshToken)), userId);
});

export const wakingTabs = symmetric(async (environment, both) => {
  // A bearer client refreshed the session, so a cookie refresh rotates the pair instead of returning it unchanged.
  const { userId, session } = await environment.newFixture();
  await expectOnePair(environment, await both((app) => refreshWithCookies(app, session, HOME)), userId);
});

async function expectOnePair(
  environment: RaceEnvironment,
  [one, two]: readonly [Settled<Pair>, Settled<Pair>],
  userId: string,
): Promise<void> {
  expect(one.value).toBeDefined();
  expect(two.value).toEqual(one.value);
  expect((await environment.sessionsOf(userId)).map(({ state }) => state)).toEqual(['active', 'active']);
  expectNoReuse(environment);
  expect(await environment.eventsOf(userId)).toMatchObject({ token_refresh: 2, replay: 1 });
  await expectLive(environment, one.value!);
}

export const wakingTabAgainstRotation = scenario(async (environment, race, [app, rival]) => {
  const { userId, session } = await environment.newFixture();
  const withoutAccess = ({ refreshToken }: Pair) => ({ refreshToken, accessToken: null });
  const pair = await refreshWithCookies(app, withoutAccess(session), HOME);
  const [woken, rotated] = await race.run(
    () => refreshWithCookies(app, pair, HOME),
    () => refreshWithCookies(rival, withoutAccess(pair), HOME),
  );
  expect(rotated.value).toBeDefined();
  expect([pair.refreshToken, rotated.value!.refreshToken]).toContain(woken.value?.refreshToken);
  expectNoReuse(environment);
  expect((await environment.eventsOf(userId))['token_refresh']).toBe(3);
  await expectLive(environment, rotated.value!);
});

/** Creates a fixture whose session was refreshed from HOME, with a pair that can be replayed. */
async function newReplayable(environment: RaceEnvironment): Promise<Fixture & { readonly presented: string }> {
  const fixture = await environment.newFixture();
  const { session } = fixture;
  const pair = await environment.apps[0].auth.refresh(session.refreshToken, HOME);
  return { ...fixture, presented: session.refreshToken, session: { ...session, ...pair } };
}

export const replayAgainstFirstUse = scenario(async (environment, race, [app, rival]) => {
  const fixture = await newReplayable(environment);
  const { session, presented } = fixture;
  const [replayed, used, between] = await race.run(
    () => rival.auth.refresh(presented, ELSEWHERE),
    () => app.auth.authenticate(session.accessToken),
    () => environment.sessionOf(fixture),
  );
  const { state, replayCount: replays, firstUsedAt: firstUse } = await environment.sessionOf(fixture);
  // The expected outcome depends on the state that was stored while one operation was held.
  if (between.firstUsedAt !== null && between.replayCount === 0) expect(replayed.code).toBeDefined();
  if (between.replayCount > 0) expect(replayed.value).toBeDefined();
  if (replayed.value) {
    expect(replayed.value.accessToken).toBe(session.accessToken);
    expect(used.value).not.toBeNull();
  }
  expect([state, replays]).toEqual(replayed.value ? ['active', 1] : ['revoked', 0]);
  expect(environment.sent('token_reuse_detected')).toHaveLength(replayed.value ? 0 : 1);
  expect(firstUse).not.toBeNull();
});

export const firstUseAgainstRefresh = scenario(async (environment, race, [app, rival]) => {
  const fixture = await newReplayable(environment);
  const { session } = fixture;
  const [used, refreshed, between] = await race.run(
    () => app.auth.authenticate(session.accessToken),
    () => rival.auth.refresh(session.refreshToken, HOME),
    () => environment.sessionOf(fixture),
  );
  expect(refreshed.value).toBeDefined();
  // An access token that is replaced before its first use is stored is refused.
  if (between.firstUsedAt === null) expect(used.value).toBeNull();
  expect((await environment.sessionOf(fixture)).firstUsedAt).toBeNull();
  // A client that changed its network in the meantime can therefore still receive the response again.
  await expect(app.auth.refresh(session.refreshToken, ELSEWHERE)).resolves.toEqual(refreshed.value);
  expectNoReuse(environment);
});

export const replayAgainstReplayAtTheLimit = symmetric(async (environment, both) => {
  const fixture = await newReplayable(environment);
  await environment.query(`UPDATE auth_sessions SET replay_count = 99 WHERE id = '${fixture.session.sessionId}'`);
  const outcome = await both((app) => app.auth.refresh(fixture.presented, HOME));
  expect(outcome.map(({ code }) => code).sort()).toEqual(['invalid_refresh_token', undefined]);
  expect(await environment.sessionOf(fixture)).toMatchObject({ state: 'active', replayCount: 100 });
  expectNoReuse(environment);
});

export const replayAgainstRefresh = scenario(async (environment, race, [app, rival]) => {
  const fixture = await newReplayable(environment);
  const { session, presented } = fixture;
  const before = await environment.sessionOf(fixture);
  const [replayed, refreshed, between] = await race.run(
    () => rival.auth.refresh(presented, HOME),
    () => app.auth.refresh(session.refreshToken, HOME),
    () => environment.sessionOf(fixture),
  );
  // The expected outcome depends on the state that was stored while one operation was held.
  if (between.generation > before.generation) expect(replayed.code).toBeDefined();
  if (between.replayCount > 0) expect(replayed.value).toBeDefined();
  expect(environment.sent('token_reuse_detected')).toHaveLength(replayed.value ? 0 : 1);
  if (replayed.value) {
    expect(replayed.value.accessToken).toBe(session.accessToken);
    await expectLive(environment, refreshed.value!);
  } else {
    expect((await environment.sessionOf(fixture)).state).toBe('revoked');
    if (refreshed.value) await expectRevoked(environment, refreshed.value);
  }
});

export const replayAgainstEnd = (operation: EndingOperation): Scenario =>
  scenario(async (environment, race, [app, rival]) => {
    const fixture = await newReplayable(environment);
    const end = (): Promise<unknown> => operation.end(rival, fixture);
    const replay = (): Promise<Pair> => app.auth.refresh(fixture.presented, HOME);
    const [replayed, ended, between] = await race.run(replay, end, () => environment.sessionOf(fixture));
    expect(ended.code).toBeUndefined();
    expect([undefined, 'invalid_refresh_token']).toContain(replayed.code);
    if (replayed.value) await expectRevoked(environment, replayed.value);
    const row = await environment.sessionOf(fixture);
    expect(['logged_out', 'revoked']).toContain(row.state);
    expect(row.replayCount).toBe(replayed.value ? 1 : 0);
    if (between.state !== 'active') expect(row).toEqual(between);
    expectNoReuse(environment);
  });

export const refreshAgainstChangeInItsSession = scenario(async (environment, race, [app, rival]) => {
  const { userId, session, principal } = await environment.newFixture();
  const [refreshed, changed] = await race.run(
    () => app.auth.refresh(session.refreshToken),
    () => rival.auth.changePassword(principal, CHANGE),
  );
  expect(changed.code).toBeUndefined();
  expect([undefined, 'invalid_refresh_token']).toContain(refreshed.code);
  // The tokens of the previous family are revoked, not used.
  if (refreshed.value) await expectRevoked(environment, refreshed.value);
  await expectRevoked(environment, session);
  expectNoReuse(environment);
  expect((await environment.eventsOf(userId))['token_refresh']).toBe(refreshed.value ? 2 : 1);
  await expectLive(environment, changed.value!);
});

export const refreshAgainstReauthentication = scenario(async (environment, race, [app, rival]) => {
  const { userId, session, principal } = await environment.newFixture();
  const [refreshed, confirmed] = await race.run(
    () => app.auth.refresh(session.refreshToken),
    () => rival.auth.reauthenticate(principal, PASSWORD),
  );
  expect([refreshed, confirmed].filter(({ value }) => value)).toHaveLength(1);
  if (refreshed.value) expect(confirmed.code).toBe('access_token_invalid');
  else expect(refreshed.code).toBe('invalid_refresh_token');
  expect(await environment.eventsOf(userId)).toMatchObject(
    refreshed.value ? { token_refresh: 2 } : { token_refresh: 1, reauthentication: 1 },
  );
  expectNoReuse(environment);
  await expectLive(environment, (refreshed.value ?? confirmed.value)!);
});

/**
 * One of two reauthentications returns a pair. The scenario executes only the transitions, because a session
 * verifies one password at a time.
 */
export const reauthenticationAgainstItself = symmetric(async (environment, both) => {
  const { userId, session } = await environment.newFixture();
  const outcome = await both((app, index) => reauthenticate(app, userId, session, CLIENTS[index]));
  const pairs = outcome.flatMap(({ value }) => value ?? []);
  expect(pairs).toHaveLength(1);
  expect((await environment.eventsOf(userId))['reauthentication']).toBe(1);
  await expectLive(environment, pairs[0]!);
});

export const loginAgainstLogin = (limit: number, before: number, rejects = false): Scenario =>
  symmetric(async (environment, both) => {
    const userId = await environment.newUser();
    for (let i = 0; i < before; i++) await environment.open(userId);
    const credentials = { username: environment.username(), password: PASSWORD };
    const outcome = await both((app, index) => app.auth.login(credentials, CLIENTS[index]));
    const active = (await environment.sessionsOf(userId)).filter(({ state }) => state === 'active');
    expect(active).toHaveLength(Math.min(limit, before + 2));
    const refused = rejects ? Math.max(0, before + 2 - limit) : 0;
    expect(outcome.filter(({ code }) => code === 'session_limit_reached')).toHaveLength(refused);
    expect(outcome.filter(({ value }) => value)).toHaveLength(2 - refused);
    expect((await environment.eventsOf(userId))['login_success']).toBe(before + 2 - refused);
  });

export const logoutAgainstDelete = scenario(async (environment, race, [app, rival]) => {
  const fixture = await environment.newFixture();
  const { userId, session, principal } = fixture;
  const [loggedOut, deleted, between] = await race.run(
    () => app.auth.logout(principal),
    () => rival.auth.revokeSession(userId, session.sessionId),
    () => environment.sessionOf(fixture),
  );
  expect(loggedOut.code).toBeUndefined();
  expect([undefined, 'session_not_found']).toContain(deleted.code);
  const row = await environment.sessionOf(fixture);
  expect(row.state).toBe(deleted.code ? 'logged_out' : 'revoked');
  if (between.state !== 'active') expect(row).toEqual(between);
  const { logout = 0, session_revoked: revocations = 0 } = await environment.eventsOf(userId);
  expect([logout, revocations]).toEqual(deleted.code ? [1, 0] : [0, 1]);
  expect(environment.sent('user_logged_out')).toHaveLength(1);
});

export const changeAgainstChange = symmetric(async (environment, both, [app]) => {
  const { principal, otherPrincipal } = await environment.newFixture();
  const principals = [principal, otherPrincipal] as const;
  const outcome = await both((one, index) =>
    one.auth.changePassword(
      principals[index],
      { currentPassword: PASSWORD, newPassword: `a new password ${index}` },
      CLIENTS[index],
    ),
  );
  const winner = outcome.findIndex(({ value }) => value);
  expect(outcome.filter(({ value }) => value)).toHaveLength(1);
  expect(['access_token_invalid', 'invalid_field']).toContain(outcome[1 - winner]!.code);
  expect(await app.auth.authenticate(outcome[winner]!.value!.accessToken)).not.toBeNull();
  const username = environment.username();
  await app.auth.login({ username, password: `a new password ${winner}` });
  const lost = app.auth.login({ username, password: `a new password ${1 - winner}` });
  await expect(lost).rejects.toMatchObject({ code: 'invalid_credentials' });
});

export const loginAgainstChange = scenario(async (environment, race, [app, rival]) => {
  const { otherPrincipal } = await environment.newFixture();
  const credentials = { username: environment.username(), password: PASSWORD };
  const [loggedIn, changed] = await race.run(
    () => app.auth.login(credentials, HOME),
    () => rival.auth.changePassword(otherPrincipal, CHANGE, ELSEWHERE),
  );
  expect(changed.code).toBeUndefined();
  if (loggedIn.value) await expectRevoked(environment, loggedIn.value);
  else expect(loggedIn.code).toBe('invalid_credentials');
});

/**
 * By the clock of the instance that expires sessions, which is ahead, the session has expired. The session ends
 * before the refresh, or continues after it with the new pair.
 */
const refreshAgainstExpiry = (expire: (ahead: TestApplication, userId: string) => Promise<unknown>): Scenario =>
  scenario(async (environment, race) => {
    const fixture = await environment.newFixture();
    const { userId, session } = fixture;
    // The third session reaches the limit of the policy `max_count`.
    await environment.open(userId);
    const [app, ahead] = environment.apps;
    app.clock.advance(6 * DAY);
    ahead.clock.advance(7 * DAY);
    const [refreshed, expired] = await race
      .run(
        () => app.auth.refresh(session.refreshToken),
        () => expire(ahead, userId),
      )
      .finally(() => app.clock.advance(DAY));
    expect(expired.code).toBeUndefined();
    expect((await environment.sessionOf(fixture)).state).toBe(refreshed.value ? 'active' : 'expired');
    expect(environment.endsOf(session.sessionId)).toBe(refreshed.value ? 0 : 1);
  });

export const refreshAgainstPruning = refreshAgainstExpiry((ahead) => ahead.pruning.prune());
export const refreshAgainstLoginAtTheLimit = refreshAgainstExpiry((ahead, userId) => ahead.auth.openSession(userId));
