import { DAY } from '../support/driven-clock';
import { describeOnEachDatabase, describeOnEachServer } from '../support/environment';
import type { LoginAnswer } from '../support/test-application';
import { type Call, pending, type Tap } from '../support/tap';

const LOOK_UP = /^SELECT .* AS access_digest.* = 'active'$/s;

/** Holds the first read of the guard until `letContinue`, and records the session ids of each read. */
function holdFirstRead(tap: Tap): { ids: unknown[][]; isHeld: Promise<void>; letContinue: () => void } {
  const ids: unknown[][] = [];
  const [held, continued] = [pending(), pending()];
  tap.hook = {
    before: (call) => {
      if (!isLookUp(tap, call)) return;
      ids.push((call.only?.params ?? call.params).flat());
      if (ids.length > 1) return;
      held.resolve();
      return continued.promise;
    },
  };
  return { ids, isHeld: held.promise, letContinue: continued.resolve };
}

/** Returns whether a call is a read of the guard: a transaction on SQLite, and a statement on other databases. */
function isLookUp({ isSqlite }: Tap, { kind, sql, only }: Call): boolean {
  return kind === 'transaction' ? LOOK_UP.test(only?.sql ?? '') : !isSqlite && LOOK_UP.test(sql);
}

describeOnEachDatabase("the guard's read", {}, ({ app, tap }) => {
  it('requests that arrive during a read are looked up together in the next read, and each receives its own session', async () => {
    const sessions: LoginAnswer[] = [];
    for (let i = 0; i < 30; i++) sessions.push(await app.login(i % 2 ? 'alice' : 'bob'));
    const bad = await app.login();
    await app.post('/auth/logout', bad.access_token).expect(200);
    const { ids, isHeld, letContinue } = holdFirstRead(tap);
    const first = app.auth.authenticate(sessions[0]!.access_token);
    await isHeld;
    const others = [...sessions.slice(1), bad].map(({ access_token: token }) => app.auth.authenticate(token));
    letContinue();
    const found = (await Promise.all([first, ...others])).map((principal) => principal?.sessionId ?? null);
    expect(found).toEqual([...sessions.map(({ session_id: id }) => id), null]);
    expect(ids.map((read) => new Set(read).size)).toEqual([1, 30]);
  });

  it('a request that arrives after the response to a revocation is refused, even if a read is in progress', async () => {
    const [held, revoked] = [await app.login('bob'), await app.login()];
    const principal = await app.principal(revoked.access_token);
    const { isHeld, letContinue } = holdFirstRead(tap);
    const first = app.auth.authenticate(held.access_token);
    await isHeld;
    await app.auth.logout(principal);
    const after = app.get('/me', revoked.access_token).then(({ status }) => status);
    await new Promise(setImmediate);
    letContinue();
    expect(await first).not.toBeNull();
    expect(await after).toBe(401);
  });

  it('the guard reads ten columns besides those of the user, and stores no expiry', async () => {
    const { access_token: token, session_id: id } = await app.login();
    const statements: string[] = [];
    tap.hook = { before: ({ sql, only }) => void statements.push(sql || (only?.sql ?? '')) };
    await app.auth.authenticate(token);
    const [read = ''] = statements.filter((sql) => LOOK_UP.test(sql));
    const names = [...read.replace(/\sFROM .*/s, '').matchAll(/ AS (\w+)(?=,|\s*$)/g)].map(([, name]) => name!);
    expect(names.filter((name) => !name.startsWith('user_') || name === 'user_id').sort()).toEqual([
      ...['access_digest', 'account', 'authenticated_at', 'data', 'id', 'last_activity', 'methods', 'replay_until'],
      ...['user_id', 'valid_until'],
    ]);
    statements.length = 0;
    app.clock.advance(31 * DAY);
    expect(await app.auth.authenticate(token)).toBeNull();
    expect(statements.filter((sql) => sql !== '' && !LOOK_UP.test(sql))).toEqual([]);
    expect(await app.storedEnd(id)).toEqual({ state: 'active', end_reason: null });
  });

  it('the guard does not read for a public route or for malformed tokens', async () => {
    const { access_token: token, refresh_token: refresh } = await app.login();
    let reads = 0;
    tap.hook = { before: (call) => void (isLookUp(tap, call) && reads++) };
    await app.get('/open', token).expect(200);
    for (const odd of ['x', `${token}x`, token.toUpperCase(), 'nsaa_', refresh]) await app.get('/me', odd).expect(401);
    expect(reads).toBe(0);
    await app.get('/me', token).expect(200);
    expect(reads).toBe(1);
  });
});

describeOnEachServer("the guard's read over two instances", {}, ({ app, start }) => {
  it('a request sees a revocation by the other instance immediately, under load', async () => {
    const other = await start();
    const busy = await app.login('bob');
    let isDone = false;
    const load = Array.from({ length: 8 }, async () => {
      while (!isDone) await other.auth.authenticate(busy.access_token);
    });
    for (let round = 0; round < 30; round++) {
      const { access_token: token } = await app.login();
      await app.auth.logout(await other.principal(token));
      const seen = await Promise.all(Array.from({ length: 5 }, () => other.auth.authenticate(token)));
      expect(seen).toEqual(Array<null>(5).fill(null));
    }
    isDone = true;
    await Promise.all(load);
  });
});
