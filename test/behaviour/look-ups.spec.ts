import { createDatabase, DATABASES, describeEachPooled } from '../support/databases';
import { Host, type LoginAnswer } from '../support/host';
import { Tap, type Call } from '../support/tap';

const LOOK_UP = /^SELECT .*WHERE s\..?access_digest/s;

/** Counts the reads of the guard, and holds each back until it is told to go. */
class LookUps {
  readonly digests: unknown[][] = [];
  private release: (() => void) | null = null;
  private readonly tap: Tap;
  private readonly kind: Call['kind'];

  constructor(host: Host) {
    this.tap = new Tap(host);
    this.kind = host.dataSource.options.type === 'better-sqlite3' ? 'unit' : 'statement';
  }

  private isLookUp({ kind, sql }: Call): boolean {
    return kind === this.kind && LOOK_UP.test(sql);
  }

  count(): void {
    this.tap.hook = { before: (call) => void (this.isLookUp(call) && this.digests.push(call.params.flat())) };
  }

  /** Holds the first of them; resolves when it is there. */
  hold(): Promise<void> {
    return new Promise((there) => {
      this.tap.hook = {
        before: (call) => {
          if (!this.isLookUp(call)) return;
          this.digests.push(call.params.flat());
          if (this.digests.length > 1) return;
          const held = new Promise<void>((resolve) => (this.release = resolve));
          there();
          return held;
        },
      };
    });
  }

  letGo(): void {
    this.release?.();
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

  it('is one for all that come while one is under way, and each is told of its own', async () => {
    const sessions: LoginAnswer[] = [];
    for (let i = 0; i < 30; i++) sessions.push(await host.login(i % 2 ? 'alice' : 'bob'));
    const bad = await host.login();
    await host.post('/auth/logout', bad.access_token).expect(200);
    const reads = new LookUps(host);
    const there = reads.hold();
    const first = host.auth.authenticate(sessions[0]!.access_token);
    await there;
    const others = [...sessions.slice(1), bad].map(({ access_token: token }) => host.auth.authenticate(token));
    reads.letGo();
    expect((await first)?.session.id).toBe(sessions[0]!.session_id);
    expect((await Promise.all(others)).map((principal) => principal?.session.id ?? null)).toEqual([
      ...sessions.slice(1).map(({ session_id: id }) => id),
      null,
    ]);
    expect(reads.digests.map((digests) => new Set(digests).size)).toEqual([1, 30]);
  });

  it('knows of every revocation that was answered before the request came, though another read is under way', async () => {
    const [held, revoked] = [await host.login('bob'), await host.login()];
    const principal = (await host.auth.authenticate(revoked.access_token))!;
    const reads = new LookUps(host);
    const there = reads.hold();
    const first = host.auth.authenticate(held.access_token);
    await there;
    await host.auth.logout(principal);
    const after = host.get('/me', revoked.access_token).then(({ status }) => status);
    await new Promise(setImmediate);
    reads.letGo();
    expect(await first).not.toBeNull();
    expect(await after).toBe(401);
  });

  it('is not made for a public route, nor for what is no token', async () => {
    const { access_token: token } = await host.login();
    const reads = new LookUps(host);
    reads.count();
    await host.get('/open', token).expect(200);
    for (const odd of ['x', `${token}x`, token.toUpperCase(), 'nsaa_']) await host.get('/me', odd).expect(401);
    expect(reads.digests).toEqual([]);
    await host.get('/me', token).expect(200);
    expect(reads.digests).toHaveLength(1);
  });
});

describeEachPooled("the guard's read on %s, over two instances", (name) => {
  it('sees a revocation of the other one at once, under load', async () => {
    const database = await createDatabase(name);
    const hosts = [await Host.start({ database }), await Host.start({ database, users: [] })] as const;
    const busy = await hosts[0].login('bob');
    let isOver = false;
    const load = Array.from({ length: 8 }, async () => {
      while (!isOver) await hosts[1].auth.authenticate(busy.access_token);
    });
    for (let round = 0; round < 30; round++) {
      const { access_token: token } = await hosts[0].login();
      const principal = (await hosts[1].auth.authenticate(token))!;
      await hosts[0].auth.logout(principal);
      const seen = await Promise.all(Array.from({ length: 5 }, () => hosts[1].auth.authenticate(token)));
      expect(seen).toEqual(Array<null>(5).fill(null));
    }
    isOver = true;
    await Promise.all(load);
    for (const host of hosts) await host.close();
    await database.drop();
  });
});
