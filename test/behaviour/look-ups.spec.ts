import { createDatabase, DATABASES, describeEachPooled } from '../support/databases';
import { Host, type LoginAnswer } from '../support/host';
import { Tap, type Call } from '../support/tap';

const LOOK_UP = /^SELECT .* AS access_digest.* = 'active'$/s;

/** Records the reads of the guard, and holds the first of them back. */
class LookUps {
  /** The session ids of each read. */
  readonly ids: unknown[][] = [];
  private release: (() => void) | null = null;
  private readonly tap: Tap;

  constructor(host: Host) {
    this.tap = new Tap(host);
  }

  record(): void {
    this.tap.hook = { before: (call) => void (this.isLookUp(call) && this.add(call)) };
  }

  /** Holds the first read; resolves when it is about to be sent. */
  hold(): Promise<void> {
    return new Promise((reached) => {
      this.tap.hook = {
        before: (call) => {
          if (!this.isLookUp(call)) return;
          this.add(call);
          if (this.ids.length > 1) return;
          const held = new Promise<void>((resolve) => (this.release = resolve));
          reached();
          return held;
        },
      };
    });
  }

  letGo(): void {
    this.release?.();
  }

  /** On SQLite the read as a whole can be held, on the others its statement. */
  private isLookUp({ kind, sql, only }: Call): boolean {
    return kind === 'unit' ? LOOK_UP.test(only?.sql ?? '') : !this.tap.isSqlite && LOOK_UP.test(sql);
  }

  private add({ params, only }: Call): void {
    this.ids.push((only?.params ?? params).flat());
  }
}

describe.each(DATABASES)("the guard's read on %s", (name) => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let host: Host;

  beforeEach(async () => {
    database = await createDatabase(name);
    host = await Host.start({ database });
  });
  afterEach(async () => {
    await host.close();
    await database.drop();
  });

  it('is one for all requests that arrive during a read, and each gets its own session', async () => {
    const sessions: LoginAnswer[] = [];
    for (let i = 0; i < 30; i++) sessions.push(await host.login(i % 2 ? 'alice' : 'bob'));
    const bad = await host.login();
    await host.post('/auth/logout', bad.access_token).expect(200);
    const reads = new LookUps(host);
    const isHeld = reads.hold();
    const first = host.auth.authenticate(sessions[0]!.access_token);
    await isHeld;
    const others = [...sessions.slice(1), bad].map(({ access_token: token }) => host.auth.authenticate(token));
    reads.letGo();
    expect((await first)?.session.id).toBe(sessions[0]!.session_id);
    expect((await Promise.all(others)).map((principal) => principal?.session.id ?? null)).toEqual([
      ...sessions.slice(1).map(({ session_id: id }) => id),
      null,
    ]);
    expect(reads.ids.map((ids) => new Set(ids).size)).toEqual([1, 30]);
  });

  it('sees every revocation that was answered before the request arrived, also during another read', async () => {
    const [held, revoked] = [await host.login('bob'), await host.login()];
    const principal = (await host.auth.authenticate(revoked.access_token))!;
    const reads = new LookUps(host);
    const isHeld = reads.hold();
    const first = host.auth.authenticate(held.access_token);
    await isHeld;
    await host.auth.logout(principal);
    const after = host.get('/me', revoked.access_token).then(({ status }) => status);
    await new Promise(setImmediate);
    reads.letGo();
    expect(await first).not.toBeNull();
    expect(await after).toBe(401);
  });

  it('is not made for a public route, nor for text that is not a token', async () => {
    const { access_token: token, refresh_token: refresh } = await host.login();
    const reads = new LookUps(host);
    reads.record();
    await host.get('/open', token).expect(200);
    for (const odd of ['x', `${token}x`, token.toUpperCase(), 'nsaa_', refresh]) await host.get('/me', odd).expect(401);
    expect(reads.ids).toEqual([]);
    await host.get('/me', token).expect(200);
    expect(reads.ids).toHaveLength(1);
  });
});

describeEachPooled("the guard's read on %s, over two instances", (name) => {
  it('sees a revocation by the other instance immediately, under load', async () => {
    const database = await createDatabase(name);
    const hosts = [await Host.start({ database }), await Host.start({ database, users: [] })] as const;
    const busy = await hosts[0].login('bob');
    let isDone = false;
    const load = Array.from({ length: 8 }, async () => {
      while (!isDone) await hosts[1].auth.authenticate(busy.access_token);
    });
    for (let round = 0; round < 30; round++) {
      const { access_token: token } = await hosts[0].login();
      const principal = (await hosts[1].auth.authenticate(token))!;
      await hosts[0].auth.logout(principal);
      const seen = await Promise.all(Array.from({ length: 5 }, () => hosts[1].auth.authenticate(token)));
      expect(seen).toEqual(Array<null>(5).fill(null));
    }
    isDone = true;
    await Promise.all(load);
    for (const host of hosts) await host.close();
    await database.drop();
  });
});
