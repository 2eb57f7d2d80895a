import { createHash } from 'node:crypto';
import { SessionTransitions } from '../../libs/auth/src/domain/ports/sessions';
import { CookieSessions } from '../../libs/auth/src/services/sessions/cookie-sessions';
import { SessionLifecycle } from '../../libs/auth/src/services/sessions/session-lifecycle';
import { TokenIssuer } from '../../libs/auth/src/services/sessions/token-issuer';
import { DAY } from '../support/driven-clock';
import type { Host } from '../support/host';
import { PASSWORD } from '../support/host';
import type { Fixture, RaceEnvironment, SessionRow } from './environment';
import type { Settled } from './interleave';
import { NEW_PASSWORD, REUSE, type EndingOperation } from './operations';

/** Which instances the two sides use, and which of them is held at each of its calls in turn. */
export interface Setting {
  readonly instances: 1 | 2;
  readonly held: 'first' | 'second';
}

/** Runs a scenario once for each call of the side that is held; returns how many there were. */
export type Scenario = (environment: RaceEnvironment, setting: Setting) => Promise<number>;

interface Pair {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** Of two networks: attempts from one and the same wait for each other within a process, which nothing can observe. */
const HOME = { ipAddress: '192.0.2.1' };
const ELSEWHERE = { ipAddress: '198.51.100.1' };
const CLIENTS = [HOME, ELSEWHERE] as const;

export async function atEveryCall(once: (stopAt: number) => Promise<boolean>): Promise<number> {
  let stopAt = 1;
  while (await once(stopAt)) stopAt++;
  return stopAt - 1;
}

export function hostsOf(environment: RaceEnvironment, { instances }: Setting): [Host, Host] {
  return [environment.hosts[0], environment.hosts[instances - 1]!];
}

/** Runs both sides, whichever is held; the outcomes in their own order. */
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

/** Whichever comes first, the session has ended with all its tokens, once, and stays as it ended. */
export function refreshAgainstEnd(operation: EndingOperation): Scenario {
  return (environment, setting) =>
    atEveryCall(async (stopAt) => {
      const fixture = await environment.newFixture();
      const { userId, session } = fixture;
      const [host, rival] = hostsOf(environment, setting);
      const end = await operation.prepare(fixture, rival);
      let endedBetween: SessionRow[] = [];
      const between = async (): Promise<void> => {
        endedBetween = (await environment.sessionsOf(userId)).filter(({ state }) => state !== 'active');
      };
      const refresh = (): Promise<Pair> => host.auth.refresh(session.refreshToken);
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
  const [host] = environment.hosts;
  expect(await host.auth.authenticate(pair.accessToken)).toBeNull();
  await expect(host.auth.refresh(pair.refreshToken)).rejects.toMatchObject({ code: 'invalid_refresh_token' });
}

async function expectLive(environment: RaceEnvironment, pair: Pair): Promise<void> {
  const [host] = environment.hosts;
  expect(await host.auth.authenticate(pair.accessToken)).not.toBeNull();
  await expect(host.auth.refresh(pair.refreshToken)).resolves.toBeDefined();
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

/** One pair, and the second presentation is reuse. */
export const refreshAgainstItself: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const { userId, session } = await environment.newFixture();
    const [refresh, again] = hostsOf(environment, setting).map((host) => () => host.auth.refresh(session.refreshToken));
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

/** Within a grace period: one pair for both, and no session ends. */
export const refreshAgainstItsRepetition: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const { userId, session } = await environment.newFixture();
    const [refresh, again] = hostsOf(environment, setting).map((host) => () => host.auth.refresh(session.refreshToken));
    const outcome = await interleave(environment, stopAt, setting, refresh!, again!);
    if (!outcome) return false;
    await expectOnePair(environment, outcome, userId, { token_refresh: 2, replay: 1 });
    return true;
  });

/** What two tabs of a browser present: one pair, whose access cookie has expired or not. */
function tabs(
  environment: RaceEnvironment,
  setting: Setting,
  { refreshToken, accessToken = null }: { readonly refreshToken: string; readonly accessToken?: string | null },
): [() => Promise<Pair>, () => Promise<Pair>] {
  const [one, two] = hostsOf(environment, setting);
  const refreshAt = (host: Host) => () => host.app.get(CookieSessions).refresh({ refreshToken, accessToken }, HOME);
  return [refreshAt(one), refreshAt(two)];
}

/** Of two tabs that present the live pair, both get its successor: one rotates it, whichever reads first. */
export const wakingTabs: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    // The fixture was refreshed by a bearer client, so that its pair is not kept.
    const { userId, session } = await environment.newFixture();
    const outcome = await interleave(environment, stopAt, setting, ...tabs(environment, setting, session));
    if (!outcome) return false;
    await expectOnePair(environment, outcome, userId, { token_refresh: 2, replay: 1 });
    return true;
  });

/** A tab that presents the live pair just after it was issued gets it back, or its successor; the other one rotates it. */
export const wakingTabAgainstRotation: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const { userId, session } = await environment.newFixture();
    const pair = await environment.hosts[0].app
      .get(CookieSessions)
      .refresh({ refreshToken: session.refreshToken, accessToken: null }, HOME);
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

/** A fixture whose session was refreshed from HOME, with a response that can be issued again. */
async function newReplayable(environment: RaceEnvironment): Promise<Fixture & { readonly presented: string }> {
  const fixture = await environment.newFixture();
  const { session } = fixture;
  const pair = await environment.hosts[0].auth.refresh(session.refreshToken, HOME);
  return { ...fixture, presented: session.refreshToken, session: { ...session, ...pair } };
}

/** A replay from another network comes before the first use of the pair, or is reuse; never both. */
export const replayAgainstFirstUse: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const fixture = await newReplayable(environment);
    const { session, presented } = fixture;
    const [host, rival] = hostsOf(environment, setting);
    const replay = (): Promise<Pair> => rival.auth.refresh(presented, ELSEWHERE);
    let between: SessionRow | undefined;
    const outcome = await interleave(
      environment,
      stopAt,
      setting,
      replay,
      () => host.auth.authenticate(session.accessToken),
      async () => void (between = await environment.sessionOf(fixture)),
    );
    if (!outcome) return false;
    const [replayed, used] = outcome;
    const { state, replay_count: replays, first_used_at: firstUse } = await environment.sessionOf(fixture);
    // What was stored while one side was held decides.
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

/** The first use of an access token that a refresh has replaced is not stored for its successor. */
export const firstUseAgainstRefresh: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const fixture = await newReplayable(environment);
    const { session } = fixture;
    const [host, rival] = hostsOf(environment, setting);
    const outcome = await interleave(
      environment,
      stopAt,
      setting,
      () => host.auth.authenticate(session.accessToken),
      () => rival.auth.refresh(session.refreshToken, HOME),
    );
    if (!outcome) return false;
    expect(outcome[1].value).toBeDefined();
    expect((await environment.sessionOf(fixture)).first_used_at).toBeNull();
    // So a client that changed its network meanwhile gets the response again.
    await expect(host.auth.refresh(session.refreshToken, ELSEWHERE)).resolves.toEqual(outcome[1].value);
    expect(environment.sent('token_reuse_detected')).toEqual([]);
    return true;
  });

/** Two replays where one is left: one gets the pair, the other is refused, and no session ends. */
export const replayAgainstReplayAtTheLimit: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const fixture = await newReplayable(environment);
    const { session, presented } = fixture;
    const [host] = environment.hosts;
    await host.dataSource.query(`UPDATE auth_sessions SET replay_count = 99 WHERE id = '${session.sessionId}'`);
    const [one, two] = hostsOf(environment, setting).map((on) => () => on.auth.refresh(presented, HOME));
    const outcome = await interleave(environment, stopAt, setting, one!, two!);
    if (!outcome) return false;
    expect(outcome.map(({ code }) => code).sort()).toEqual(['invalid_refresh_token', undefined]);
    expect(await environment.sessionOf(fixture)).toMatchObject({ state: 'active', replay_count: 100 });
    expect(environment.sent('token_reuse_detected')).toEqual([]);
    return true;
  });

/** A replay comes before the pair is exchanged, or is reuse; never both. */
export const replayAgainstRefresh: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const fixture = await newReplayable(environment);
    const { session, presented } = fixture;
    const before = await environment.sessionOf(fixture);
    const [host, rival] = hostsOf(environment, setting);
    let between: SessionRow | undefined;
    const outcome = await interleave(
      environment,
      stopAt,
      setting,
      () => rival.auth.refresh(presented, HOME),
      () => host.auth.refresh(session.refreshToken, HOME),
      async () => void (between = await environment.sessionOf(fixture)),
    );
    if (!outcome) return false;
    const [replayed, refreshed] = outcome;
    // What was stored while one side was held decides.
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

/** A replay beside the end of its session: the pair that it gets, if any, is revoked in the end. */
export function replayAgainstEnd(operation: EndingOperation): Scenario {
  return (environment, setting) =>
    atEveryCall(async (stopAt) => {
      const fixture = await newReplayable(environment);
      const { presented } = fixture;
      const [host, rival] = hostsOf(environment, setting);
      const end = await operation.prepare(fixture, rival);
      const replay = (): Promise<Pair> => host.auth.refresh(presented, HOME);
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

/** The pair of the password change is the live one in the end, whether the refresh came first or not. */
export const refreshAgainstChangeInItsSession: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const { userId, session } = await environment.newFixture();
    const principal = await environment.principal(session.accessToken);
    const [host, rival] = hostsOf(environment, setting);
    const outcome = await interleave(
      environment,
      stopAt,
      setting,
      () => host.auth.refresh(session.refreshToken),
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

/** A reauthentication is committed only while its access token is live: it wins, or the refresh does. */
export const refreshAgainstReauthentication: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const { userId, session } = await environment.newFixture();
    const principal = await environment.principal(session.accessToken);
    const [host, rival] = hostsOf(environment, setting);
    const outcome = await interleave(
      environment,
      stopAt,
      setting,
      () => host.auth.refresh(session.refreshToken),
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
 * One of two reauthentications gets a pair. Their transitions alone: the passwords of one session are verified one after the
 * other.
 */
export const reauthenticationAgainstItself: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const { userId, session } = await environment.newFixture();
    const { id } = (await environment.principal(session.accessToken)).session;
    const current = {
      id,
      userId,
      methods: '{}',
      accessDigest: createHash('sha256').update(session.accessToken).digest('hex'),
    };
    const [one, two] = hostsOf(environment, setting).map((host, index) => async () => {
      const context = host.app.get(SessionLifecycle).operationContext(CLIENTS[index]!);
      const { tokens, digests } = host.app.get(TokenIssuer).issueFamily(id, context.now);
      return (await host.app.get(SessionTransitions).reissue(current, digests, [], context)) ? tokens : null;
    });
    const outcome = await interleave(environment, stopAt, setting, one!, two!);
    if (!outcome) return false;
    const pairs = outcome.flatMap(({ value }) => value ?? []);
    expect(pairs).toHaveLength(1);
    expect((await environment.eventsOf(userId))['reauthentication']).toBe(1);
    await expectLive(environment, pairs[0]!);
    return true;
  });

/** Never more than the limit, the very first two logins of a user included. */
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
      const [login, rival] = hostsOf(environment, setting).map(
        (host, index) => () => host.auth.login(credentials, CLIENTS[index]),
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

/** One of the two ends the session, the other finds none; published once. */
export const deleteAgainstDelete: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const { userId, session } = await environment.newFixture();
    const [end, rival] = hostsOf(environment, setting).map(
      (host) => () => host.auth.revokeSession(userId, session.sessionId).then(() => 'revoked'),
    );
    const outcome = await interleave(environment, stopAt, setting, end!, rival!);
    if (!outcome) return false;
    expect(outcome.map(({ value, code }) => value ?? code).sort()).toEqual(['revoked', 'session_not_found']);
    expect((await environment.eventsOf(userId))['session_revoked']).toBe(1);
    expect(environment.sent('user_logged_out')).toHaveLength(1);
    return true;
  });

/** The first end of a session is the one that stays stored. */
export const logoutAgainstDelete: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const fixture = await environment.newFixture();
    const { userId, session } = fixture;
    const principal = await environment.principal(session.accessToken);
    const [host, rival] = hostsOf(environment, setting);
    let between: SessionRow | undefined;
    const outcome = await interleave(
      environment,
      stopAt,
      setting,
      () => host.auth.logout(principal),
      () => rival.auth.revokeSession(userId, session.sessionId),
      async () => void (between = await environment.sessionOf(fixture)),
    );
    if (!outcome) return false;
    const row = await environment.sessionOf(fixture);
    expect(row.state).not.toBe('active');
    if (between!.state !== 'active') expect(row).toEqual(between);
    return true;
  });

/** One password wins, and only its session goes on. */
export const changeAgainstChange: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const { session, other } = await environment.newFixture();
    const principals = [
      await environment.principal(session.accessToken),
      await environment.principal(other.accessToken),
    ];
    const [change, rival] = hostsOf(environment, setting).map(
      (host, index) => () =>
        host.auth.changePassword(
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
    const [host] = environment.hosts;
    expect(await host.auth.authenticate(outcome[winner]!.value!.accessToken)).not.toBeNull();
    const username = environment.username();
    await host.auth.login({ username, password: `a new password ${winner}` });
    const lost = host.auth.login({ username, password: `a new password ${1 - winner}` });
    await expect(lost).rejects.toMatchObject({ code: 'invalid_credentials' });
    return true;
  });

/** No session that was opened with the old password outlives its change. */
export const loginAgainstChange: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const { other } = await environment.newFixture();
    const principal = await environment.principal(other.accessToken);
    const [host, rival] = hostsOf(environment, setting);
    const credentials = { username: environment.username(), password: PASSWORD };
    const login = (): Promise<Pair> => host.auth.login(credentials, HOME);
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

/** To pruning with a clock ahead the session has expired: it ends before it is refreshed, or goes on afterwards. */
export const refreshAgainstPruning: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const fixture = await environment.newFixture();
    const { session } = fixture;
    const [host, ahead] = environment.hosts;
    host.clock.advance(6 * DAY);
    ahead.clock.advance(7 * DAY);
    const refresh = (): Promise<Pair> => host.auth.refresh(session.refreshToken);
    const outcome = await interleave(environment, stopAt, setting, refresh, () => ahead.pruning.prune());
    host.clock.advance(DAY);
    if (!outcome) return false;
    const [refreshed, pruned] = outcome;
    expect(pruned.code).toBeUndefined();
    expect((await environment.sessionOf(fixture)).state).toBe(refreshed.value ? 'active' : 'expired');
    const published = environment.sent('user_logged_out').map((end) => end.session.id);
    expect(published.filter((id) => id === session.sessionId)).toHaveLength(refreshed.value ? 0 : 1);
    return true;
  });

/** A session that pruning would schedule again ends beside it: when its row may be removed is decided by its end. */
export const logoutAgainstPruning: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const [host, rival] = environment.hosts;
    const advance = (ms: number): void => environment.hosts.forEach(({ clock }) => clock.advance(ms));
    const { userId } = await environment.newFixture();
    const opened = await environment.open(userId);
    // Due by the time it was opened with, and alive since it was refreshed.
    advance(6 * DAY);
    const session = { ...opened, ...(await host.auth.refresh(opened.refreshToken)) };
    const principal = await environment.principal(session.accessToken);
    advance(2 * DAY);
    const fixture = { environment, userId, session, other: opened, usedToken: opened.refreshToken };
    const outcome = await interleave(
      environment,
      stopAt,
      setting,
      () => host.auth.logout(principal),
      () => rival.pruning.prune(),
    );
    if (!outcome) return false;
    expect(outcome.map(({ code }) => code)).toEqual([undefined, undefined]);
    const row = await environment.sessionOf(fixture);
    const createdAt = principal.session.createdAt.getTime();
    expect([row.state, row.check_at]).toEqual(['logged_out', createdAt + 90 * DAY]);
    expect(environment.sent('user_logged_out').filter((end) => end.session.id === session.sessionId)).toHaveLength(1);
    return true;
  });
