import type { Host } from '../support/host';
import { PASSWORD } from '../support/host';
import { setTheStage, SIX_DAYS, type Deed, type Scene } from './deeds';
import type { Settled } from './interleave';
import { DAY } from '../support/driven-clock';
import type { RaceStage, SessionRow } from './stage';

/** Which instances the two sides use, and which of them is held at each of its calls in turn. */
export interface Setting {
  readonly instances: 1 | 2;
  readonly held: 'first' | 'second';
}

/** Runs a scenario once for each call of the side that is held; how often that was. */
async function atEveryAwait(once: (stopAt: number) => Promise<boolean>): Promise<number> {
  let stopAt = 1;
  while (await once(stopAt)) stopAt++;
  return stopAt - 1;
}

function hostsOf(stage: RaceStage, { instances }: Setting): [Host, Host] {
  return [stage.hosts[0], stage.hosts[instances - 1]!];
}

/** Runs both sides, whichever is held; the outcomes in their own order. */
async function interleave<A, B>(
  stage: RaceStage,
  stopAt: number,
  { held }: Setting,
  a: () => Promise<A>,
  b: () => Promise<B>,
  between?: () => Promise<void>,
): Promise<[Settled<A>, Settled<B>] | null> {
  const watch = between ? { between } : {};
  if (held === 'first') return stage.interleaver.run(stopAt, { first: a, second: b, ...watch });
  const outcome = await stage.interleaver.run(stopAt, { first: b, second: a, ...watch });
  return outcome && [outcome[1], outcome[0]];
}

/** Whoever comes first, the session is over in the end with all its tokens, once, and stays as it ended. */
export function refreshAgainstEnd(stage: RaceStage, deed: Deed, setting: Setting): Promise<number> {
  return atEveryAwait(async (stopAt) => {
    const scene = await setTheStage(stage);
    const { userId, session } = scene;
    const [host, rival] = hostsOf(stage, setting);
    const end = await deed.prepare(scene, rival);
    let endedBetween: SessionRow[] = [];
    const between = async (): Promise<void> => {
      endedBetween = (await stage.sessionsOf(userId)).filter(({ state }) => state !== 'active');
    };
    const outcome = await interleave(
      stage,
      stopAt,
      setting,
      () => host.auth.refresh(session.refreshToken),
      end,
      between,
    );
    if (!outcome) return false;
    const [refreshed, ended] = outcome;
    expect(ended.code).toBeUndefined();
    expect([undefined, 'invalid_refresh_token']).toContain(refreshed.code);

    const rows = await stage.sessionsOf(userId);
    for (const row of endedBetween) expect(rows).toContainEqual(row);
    await expectOver(scene, deed, rows);
    if (refreshed.value) await expectDead(stage, refreshed.value);
    await expectDead(stage, session);
    expect(await stage.sessionsOf(userId)).toEqual(rows);
    await expectTold(scene, deed, rows);
    return true;
  });
}

async function expectOver({ stage, session, other }: Scene, deed: Deed, rows: readonly SessionRow[]): Promise<void> {
  const stateOf = (id: string): string | undefined => rows.find((row) => row.id === id)?.state;
  expect(['logged_out', 'revoked']).toContain(stateOf(session.sessionId));
  expect(stateOf(other.sessionId) === 'active').toBe(!deed.endsOther);
  const { generation } = rows.find((row) => row.id === session.sessionId)!;
  expect(await stage.usedTokensOf(session.sessionId)).toBe(generation);
}

async function expectDead(stage: RaceStage, pair: { accessToken: string; refreshToken: string }): Promise<void> {
  const [host] = stage.hosts;
  expect(await host.auth.authenticate(pair.accessToken)).toBeNull();
  await expect(host.auth.refresh(pair.refreshToken)).rejects.toMatchObject({ code: 'invalid_refresh_token' });
}

async function expectTold({ stage, userId, session }: Scene, deed: Deed, rows: readonly SessionRow[]): Promise<void> {
  const ended = rows.filter(({ state }) => state !== 'active').length;
  const ends = stage.hosts.flatMap((host) => host.sent('user_logged_out'));
  expect(ends.filter((end) => end.session.id === session.sessionId)).toHaveLength(1);
  expect(ends).toHaveLength(ended);
  const reuses = deed.name.startsWith('replay') ? 1 : 0;
  expect(stage.hosts.flatMap((host) => host.sent('token_reuse_detected'))).toHaveLength(reuses);
  const events = await stage.eventsOf(userId);
  expect(events['token_reuse'] ?? 0).toBe(reuses);
  expect(events['token_refresh']).toBe(await stage.usedTokensOf(session.sessionId));
}

/** Strict: one pair, and the second presentation is reuse. With a grace period: one pair for both, and nobody is ended. */
export function refreshAgainstItself(stage: RaceStage, setting: Setting, graceSeconds: number): Promise<number> {
  return atEveryAwait(async (stopAt) => {
    const { userId, session } = await setTheStage(stage);
    const [refresh, again] = hostsOf(stage, setting).map((host) => () => host.auth.refresh(session.refreshToken));
    const outcome = await interleave(stage, stopAt, setting, refresh!, again!);
    if (!outcome) return false;
    const pairs = outcome.flatMap(({ value }) => (value ? [value] : []));
    const states = (await stage.sessionsOf(userId)).map(({ state }) => state);
    const reuses = stage.hosts.flatMap((host) => host.sent('token_reuse_detected'));
    const events = await stage.eventsOf(userId);
    expect(events['token_refresh']).toBe(2);
    if (graceSeconds > 0) {
      expect(pairs).toHaveLength(2);
      expect(pairs[0]).toEqual(pairs[1]);
      expect(states).toEqual(['active', 'active']);
      expect(reuses).toEqual([]);
      expect(await stage.hosts[0].auth.authenticate(pairs[0]!.accessToken)).not.toBeNull();
      return true;
    }
    expect(outcome.map(({ code }) => code).sort()).toEqual(['invalid_refresh_token', undefined]);
    expect(states).toEqual(['revoked', 'revoked']);
    expect(reuses).toMatchObject([{ sessionsEnded: 2 }]);
    expect(events['token_reuse']).toBe(1);
    await expectDead(stage, pairs[0]!);
    return true;
  });
}

/** Never more than the limit, the very first two logins of a user included. */
export function loginAgainstLogin(
  stage: RaceStage,
  setting: Setting,
  { limit, before, refusing }: { limit: number; before: number; refusing: boolean },
): Promise<number> {
  return atEveryAwait(async (stopAt) => {
    const userId = await stage.newUser();
    for (let i = 0; i < before; i++) await stage.open(userId);
    const credentials = { username: stage.username(), password: PASSWORD };
    const [login, rival] = hostsOf(stage, setting).map((host) => () => host.auth.login(credentials));
    const outcome = await interleave(stage, stopAt, setting, login!, rival!);
    if (!outcome) return false;
    const active = (await stage.sessionsOf(userId)).filter(({ state }) => state === 'active');
    expect(active).toHaveLength(Math.min(limit, before + 2));
    const refused = refusing ? Math.max(0, before + 2 - limit) : 0;
    expect(outcome.filter(({ code }) => code === 'session_limit_reached')).toHaveLength(refused);
    expect(outcome.filter(({ value }) => value)).toHaveLength(2 - refused);
    expect((await stage.eventsOf(userId))['login_success']).toBe(before + 2 - refused);
    return true;
  });
}

/** One of the two ends it, the other finds nothing; told once. */
export function deleteAgainstDelete(stage: RaceStage, setting: Setting): Promise<number> {
  return atEveryAwait(async (stopAt) => {
    const { userId, session } = await setTheStage(stage);
    const [end, rival] = hostsOf(stage, setting).map(
      (host) => () => host.auth.revokeSession(userId, session.sessionId).then(() => 'revoked'),
    );
    const outcome = await interleave(stage, stopAt, setting, end!, rival!);
    if (!outcome) return false;
    expect(outcome.map(({ value, code }) => value ?? code).sort()).toEqual(['revoked', 'session_not_found']);
    expect((await stage.eventsOf(userId))['session_revoked']).toBe(1);
    expect(stage.hosts.flatMap((host) => host.sent('user_logged_out'))).toHaveLength(1);
    return true;
  });
}

/** One password wins, and only its session goes on. */
export function changeAgainstChange(stage: RaceStage, setting: Setting): Promise<number> {
  return atEveryAwait(async (stopAt) => {
    const { session, other } = await setTheStage(stage);
    const principals = [await stage.principal(session.accessToken), await stage.principal(other.accessToken)];
    const [change, rival] = hostsOf(stage, setting).map(
      (host, index) => () =>
        host.auth.changePassword(principals[index]!, {
          currentPassword: PASSWORD,
          newPassword: `a new password ${index}`,
        }),
    );
    const outcome = await interleave(stage, stopAt, setting, change!, rival!);
    if (!outcome) return false;
    const winner = outcome.findIndex(({ value }) => value);
    expect(outcome.filter(({ value }) => value)).toHaveLength(1);
    expect(['access_token_invalid', 'invalid_field']).toContain(outcome[1 - winner]!.code);
    const [host] = stage.hosts;
    expect(await host.auth.authenticate(outcome[winner]!.value!.accessToken)).not.toBeNull();
    const username = stage.username();
    await host.auth.login({ username, password: `a new password ${winner}` });
    const lost = host.auth.login({ username, password: `a new password ${1 - winner}` });
    await expect(lost).rejects.toMatchObject({ code: 'invalid_credentials' });
    return true;
  });
}

/** No session that was opened with the old password outlives its change. */
export function loginAgainstChange(stage: RaceStage, setting: Setting): Promise<number> {
  return atEveryAwait(async (stopAt) => {
    const { other } = await setTheStage(stage);
    const principal = await stage.principal(other.accessToken);
    const [host, rival] = hostsOf(stage, setting);
    const login = (): Promise<{ accessToken: string; refreshToken: string }> =>
      host.auth.login({ username: stage.username(), password: PASSWORD });
    const change = (): Promise<unknown> =>
      rival.auth.changePassword(principal, { currentPassword: PASSWORD, newPassword: 'a password that is new' });
    const outcome = await interleave(stage, stopAt, setting, login, change);
    if (!outcome) return false;
    const [loggedIn, changed] = outcome;
    expect(changed.code).toBeUndefined();
    if (loggedIn.value) await expectDead(stage, loggedIn.value);
    else expect(loggedIn.code).toBe('invalid_credentials');
    return true;
  });
}

/** A clean-up whose clock is ahead takes a session for idle: it ends before it is refreshed, or goes on afterwards. */
export function refreshAgainstPruning(stage: RaceStage, setting: Setting): Promise<number> {
  return atEveryAwait(async (stopAt) => {
    const { userId, session } = await setTheStage(stage);
    const [host, ahead] = stage.hosts;
    host.clock.advance(SIX_DAYS);
    ahead.clock.advance(7 * DAY);
    const refresh = (): Promise<{ accessToken: string }> => host.auth.refresh(session.refreshToken);
    const outcome = await interleave(stage, stopAt, setting, refresh, () => ahead.pruning.prune());
    host.clock.advance(DAY);
    if (!outcome) return false;
    const [refreshed, pruned] = outcome;
    expect(pruned.code).toBeUndefined();
    const { state } = (await stage.sessionsOf(userId)).find(({ id }) => id === session.sessionId)!;
    expect(state).toBe(refreshed.value ? 'active' : 'expired');
    const told = stage.hosts.flatMap((one) => one.sent('user_logged_out')).map((end) => end.session.id);
    expect(told.filter((id) => id === session.sessionId)).toHaveLength(refreshed.value ? 0 : 1);
    return true;
  });
}
