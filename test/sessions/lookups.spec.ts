import { createDatabase, DATABASES, describeEachPooled } from '../support/databases';
import { DAY } from '../support/driven-clock';
import { storedEnd } from '../support/environment';
import { TestApplication, type LoginAnswer } from '../support/test-application';
import { Tap, type Call } from '../support/tap';

const LOOK_UP = /^SELECT .* AS access_digest.* = 'active'$/s;

/** Records the reads of the guard, and can hold the first read. */
class LookUps {
  /** The session ids of each read. */
  readonly ids: unknown[][] = [];
  letContinue: () => void = () => undefined;
  private readonly tap: Tap;

  constructor(app: TestApplication) {
    this.tap = new Tap(app);
  }

  record(): void {
    this.tap.hook = { before: (call) => void (this.isLookUp(call) && this.add(call)) };
  }

  /** Holds the first read, and resolves when the read is about to be sent. */
  hold(): Promise<void> {
    return new Promise((reached) => {
      this.tap.hook = {
        before: (call) => {
          if (!this.isLookUp(call)) return;
          this.add(call);
          if (this.ids.length > 1) return;
          reached();
          return new Promise<void>((resolve) => (this.letContinue = resolve));
        },
      };
    });
  }

  /** Returns whether a call is a read of the guard: a transaction on SQLite, and a statement on other databases. */
  private isLookUp({ kind, sql, only }: Call): boolean {
    return kind === 'transaction' ? LOOK_UP.test(only?.sql ?? '') : !this.tap.isSqlite && LOOK_UP.test(sql);
  }

  private add({ params, only }: Call): void {
    this.ids.push((only?.params ?? params).flat());
  }
}

describe.each(DATABASES)("the guard's read on %s", (name) => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let app: TestApplication;

  beforeEach(async () => {
    database = await createDatabase(name);
    app = await TestApplication.start({ database });
  });
  afterEach(async () => {
    await app.close();
    await database.drop();
  });

  it('requests that arrive during a read are looked up together in the next read, and each receives its own session', async () => {
    const sessions: LoginAnswer[] = [];
    for (let i = 0; i < 30; i++) sessions.push(await app.login(i % 2 ? 'alice' : 'bob'));
    const bad = await app.login();
    await app.post('/auth/logout', bad.access_token).expect(200);
    const reads = new LookUps(app);
    const isHeld = reads.hold();
    const first = app.auth.authenticate(sessions[0]!.access_token);
    await isHeld;
    const others = [...sessions.slice(1), bad].map(({ access_token: token }) => app.auth.authenticate(token));
    reads.letContinue();
    expect((await first)?.sessionId).toBe(sessions[0]!.session_id);
    expect((await Promise.all(others)).map((principal) => principal?.sessionId ?? null)).toEqual([
      ...sessions.slice(1).map(({ session_id: id }) => id),
      null,
    ]);
    expect(reads.ids.map((ids) => new Set(ids).size)).toEqual([1, 30]);
  });

  it('a request that arrives after the response to a revocation is refused, even if a read is in progress', async () => {
    const [held, revoked] = [await app.login('bob'), await app.login()];
    const principal = (await app.auth.authenticate(revoked.access_token))!;
    const reads = new LookUps(app);
    const isHeld = reads.hold();
    const first = app.auth.authenticate(held.access_token);
    await isHeld;
    await app.auth.logout(principal);
    const after = app.get('/me', revoked.access_token).then(({ status }) => status);
    await new Promise(setImmediate);
    reads.letContinue();
    expect(await first).not.toBeNull();
    expect(await after).toBe(401);
  });

  it('the guard writes nothing when it refuses the token of an expired session', async () => {
    const { access_token: token, session_id: id } = await app.login();
    app.clock.advance(31 * DAY);
    const statements: string[] = [];
    new Tap(app).hook = { before: ({ sql, only }) => void statements.push(sql || (only?.sql ?? '')) };
    expect(await app.auth.authenticate(token)).toBeNull();
    expect(statements.filter((sql) => sql !== '' && !LOOK_UP.test(sql))).toEqual([]);
    expect(await storedEnd(app, id)).toEqual({ state: 'active', end_reason: null });
  });

  it('the guard does not read for a public route or for malformed tokens', async () => {
    const { access_token: token, refresh_token: refresh } = await app.login();
    const reads = new LookUps(app);
    reads.record();
    await app.get('/open', token).expect(200);
    for (const odd of ['x', `${token}x`, token.toUpperCase(), 'nsaa_', refresh]) await app.get('/me', odd).expect(401);
    expect(reads.ids).toEqual([]);
    await app.get('/me', token).expect(200);
    expect(reads.ids).toHaveLength(1);
  });
});

describeEachPooled("the guard's read on %s, over two instances", (name) => {
  it('a request sees a revocation by the other instance immediately, under load', async () => {
    const database = await createDatabase(name);
    const apps = [
      await TestApplication.start({ database }),
      await TestApplication.start({ database, users: [] }),
    ] as const;
    const busy = await apps[0].login('bob');
    let isDone = false;
    const load = Array.from({ length: 8 }, async () => {
      while (!isDone) await apps[1].auth.authenticate(busy.access_token);
    });
    for (let round = 0; round < 30; round++) {
      const { access_token: token } = await apps[0].login();
      const principal = (await apps[1].auth.authenticate(token))!;
      await apps[0].auth.logout(principal);
      const seen = await Promise.all(Array.from({ length: 5 }, () => apps[1].auth.authenticate(token)));
      expect(seen).toEqual(Array<null>(5).fill(null));
    }
    isDone = true;
    await Promise.all(load);
    for (const app of apps) await app.close();
    await database.drop();
  });
});
