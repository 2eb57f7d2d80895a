import { createHash } from 'node:crypto';
import { AuthUser } from 'nestjs-session-auth';
import { createDatabase, DATABASES, type TestDatabase } from '../support/databases';
import { CountingHasher } from '../support/counting-hasher';
import { MINUTE, SECOND } from '../support/driven-clock';
import { Host, PASSWORD } from '../support/host';
import { eventsOf, INVALID_CREDENTIALS, stories, type Stage } from './stories';

const hasher = new CountingHasher();
const TOO_MANY = { detail: 'Too many failed logins. Try again later.' };

/** What became of one login from an address: `ok`, or the code of its refusal with the seconds to wait. */
async function tryLogin(host: Host, password: string, ipAddress = '192.0.2.1', username = 'alice'): Promise<string> {
  try {
    await host.auth.login({ username, password }, { ipAddress });
    return 'ok';
  } catch (error) {
    const { code, retryAfterSeconds } = error as { code: string; retryAfterSeconds: number | null };
    return retryAfterSeconds === null ? code : `${code} ${retryAfterSeconds}`;
  }
}

async function fail(host: Host, times: number, ipAddress?: string, username?: string): Promise<void> {
  for (let i = 0; i < times; i++)
    expect(await tryLogin(host, 'wrong', ipAddress, username)).toBe('invalid_credentials');
}

stories('failed logins', { auth: { passwordHasher: hasher } }, (at: Stage) => {
  it('are delayed from the tenth on: 429 with the seconds to wait, right password or not', async () => {
    const { host } = at;
    const login = (password: string): ReturnType<Host['refresh']> =>
      host.http.post('/auth/login/').send({ username: 'alice', password });
    for (let i = 0; i < 10; i++) await login('wrong').expect(400, INVALID_CREDENTIALS);
    for (const password of ['wrong', PASSWORD]) {
      const answer = await login(password).expect(429, TOO_MANY);
      expect(answer.headers).toMatchObject({ 'retry-after': '30', 'cache-control': 'no-store' });
    }
    host.clock.advance(30 * SECOND - 1);
    const { headers } = await login(PASSWORD).expect(429, TOO_MANY);
    expect(headers['retry-after']).toBe('1');
    host.clock.advance(1);
    await login(PASSWORD).expect(200);
  });

  it('are delayed by 30 s, doubled each time, up to an hour', async () => {
    const { host } = at;
    await fail(host, 9);
    for (const seconds of [30, 60, 120, 240, 480, 960, 1920, 3600, 3600]) {
      await fail(host, 1);
      expect(await tryLogin(host, 'wrong')).toBe(`too_many_attempts ${seconds}`);
      host.clock.advance(seconds * SECOND);
    }
  });

  it('are not counted, recorded, hashed or delayed further while they are delayed', async () => {
    const { host } = at;
    const session = await host.login();
    await fail(host, 10);
    const [events, hashes] = [await eventsOf(host, session.access_token), hasher.verified.length];
    for (let i = 0; i < 20; i++) expect(await tryLogin(host, PASSWORD)).toBe('too_many_attempts 30');
    expect(await eventsOf(host, session.access_token)).toEqual(events);
    expect(hasher.verified).toHaveLength(hashes);
    expect(host.sent('login_failed')).toHaveLength(10);
    host.clock.advance(30 * SECOND);
    expect(await tryLogin(host, PASSWORD)).toBe('ok');
  });

  it('do not affect the owner on another network, open sessions or refreshes', async () => {
    const { host } = at;
    const session = await host.login();
    await fail(host, 10);
    expect(await tryLogin(host, PASSWORD, '192.0.2.2')).toBe('ok');
    await host.get('/me', session.access_token).expect(200);
    await host.refresh(session.refresh_token).expect(200);
    // The other network's login ends no delay here.
    expect(await tryLogin(host, PASSWORD)).toBe('too_many_attempts 30');
  });

  it('are counted together for all spellings of an address and for a /64, and separately for the next /64', async () => {
    const { host } = at;
    const spellings = ['2001:db8:0:1::1', '2001:0DB8::1:0:0:0:2', '2001:db8:0:1:ffff::3%eth0'];
    for (let i = 0; i < 10; i++) await fail(host, 1, spellings[i % 3]);
    expect(await tryLogin(host, PASSWORD, '2001:db8:0:1::99')).toBe('too_many_attempts 30');
    expect(await tryLogin(host, PASSWORD, '2001:db8:0:2::1')).toBe('ok');
    await fail(host, 5, '::ffff:192.0.2.9', 'bob');
    await fail(host, 5, '192.0.2.9', 'bob');
    expect(await tryLogin(host, PASSWORD, '192.0.2.9', 'bob')).toBe('too_many_attempts 30');
  });

  it('are forgotten after the window, or after twice the delay in force', async () => {
    const { host } = at;
    const counts = (): number[] => host.sent('login_failed').map(({ failureCount }) => failureCount);
    await fail(host, 9);
    host.clock.advance(5 * MINUTE);
    await fail(host, 10);
    expect(counts().slice(-1)).toEqual([10]);
    for (const seconds of [30, 60, 120, 240]) {
      host.clock.advance(seconds * SECOND);
      await fail(host, 1);
    }
    host.clock.advance(2 * 480 * SECOND - 1);
    await fail(host, 1);
    expect(counts().slice(-1)).toEqual([15]);
    host.clock.advance(2 * 960 * SECOND);
    await fail(host, 1);
    expect(counts().slice(-1)).toEqual([1]);
  });

  it('end with a good login, and the alarm rings once in each run', async () => {
    const { host } = at;
    await fail(host, 9);
    expect(await tryLogin(host, PASSWORD)).toBe('ok');
    await fail(host, 9);
    expect(host.sent('brute_force_threshold_hit')).toMatchObject([{ failureCount: 5 }, { failureCount: 5 }]);
  });

  it('are treated alike for a name that nobody has', async () => {
    const { host } = at;
    await fail(host, 10, '192.0.2.1', 'mallory');
    expect(await tryLogin(host, PASSWORD, '192.0.2.1', 'mallory')).toBe('too_many_attempts 30');
  });

  it('neither create nor change a row when they are refused', async () => {
    const { host } = at;
    const rows = (): Promise<unknown[]> => host.dataSource.query('SELECT * FROM auth_login_failures ORDER BY 1');
    for (let i = 0; i < 91; i++) await fail(host, 1, `198.51.100.${i}`);
    await fail(host, 9);
    const blocked = await rows();
    for (const ipAddress of ['192.0.2.1', '198.51.100.1', '203.0.113.1', '203.0.113.2']) {
      expect(await tryLogin(host, PASSWORD, ipAddress)).toBe('too_many_attempts 86400');
    }
    expect(await rows()).toEqual(blocked);
    await host.auth.resetFailedLogins('alice');
    await fail(host, 10);
    const delayed = await rows();
    expect(await tryLogin(host, PASSWORD)).toBe('too_many_attempts 30');
    expect(await rows()).toEqual(delayed);
    expect([blocked.length, delayed.length]).toEqual([93, 2]);
  });

  it('are counted per user once a user has the name: a rename keeps the streak of the user and frees the name', async () => {
    const { host } = at;
    const users = host.dataSource.getRepository(AuthUser);
    const { id } = await users.findOneByOrFail({ username: 'alice' });
    const bob = await host.auth.createUser({ username: 'bob-renamed', password: PASSWORD });
    await fail(host, 10);
    // The library's own table holds the digest of the name beside it.
    const rename = async (userId: typeof bob.id, username: string): Promise<void> => {
      const usernameKey = createHash('sha256').update(username).digest('hex');
      await users.update({ id: String(userId) }, { username, usernameKey });
    };
    await rename(id, 'alice-renamed');
    await rename(bob.id, 'alice');
    expect(await tryLogin(host, PASSWORD, '192.0.2.1', 'alice-renamed')).toBe('too_many_attempts 30');
    expect(await tryLogin(host, PASSWORD, '192.0.2.1', 'alice')).toBe('ok');
    await rename(bob.id, 'bob-renamed');
    await rename(id, 'alice');
    await host.auth.resetFailedLogins('alice');
    expect(await tryLogin(host, PASSWORD)).toBe('ok');
  });

  it('for a name that is the id of a user do not count against that user', async () => {
    const { host } = at;
    const { id } = await host.dataSource.getRepository(AuthUser).findOneByOrFail({ username: 'alice' });
    await fail(host, 10, '192.0.2.1', id);
    expect(await tryLogin(host, PASSWORD)).toBe('ok');
  });

  it('leave rows that are pruned once they have expired', async () => {
    const { host } = at;
    await fail(host, 3, '192.0.2.1', 'mallory');
    host.clock.advance(5 * MINUTE);
    expect(await host.pruning.prune()).toMatchObject({ loginFailures: 1 });
    host.clock.advance(24 * 60 * MINUTE);
    expect(await host.pruning.prune()).toMatchObject({ loginFailures: 1 });
    expect(await host.dataSource.query('SELECT * FROM auth_login_failures')).toEqual([]);
  });
});

stories('failed logins that are not delayed', { auth: { failedLogins: { throttleFrom: false } } }, (at: Stage) => {
  it('are counted and signalled all the same', async () => {
    const { host } = at;
    await fail(host, 120);
    expect(host.sent('login_failed').at(-1)).toMatchObject({ failureCount: 120 });
    expect(host.sent('brute_force_threshold_hit')).toHaveLength(1);
    expect(await tryLogin(host, PASSWORD)).toBe('ok');
  });
});

describe.each(DATABASES)('parallel attempts over two instances on %s', (name) => {
  let database: TestDatabase;
  let hosts: readonly [Host, Host];
  const hashers = [new CountingHasher(), new CountingHasher()] as const;

  beforeAll(async () => {
    database = await createDatabase(name);
    const start = (index: 0 | 1): Promise<Host> =>
      Host.start({
        database,
        auth: { failedLogins: { throttleFrom: 5 }, passwordHasher: hashers[index] },
        ...(index === 1 ? { users: [] } : {}),
      });
    hosts = [await start(0), await start(1)];
  });
  afterAll(async () => {
    for (const host of hosts) await host.close();
    await database.drop();
  });
  beforeEach(async () => {
    for (const host of hosts) await host.reset();
    for (const one of hashers) one.verified.length = 0;
  });

  const parallel = (count: number, password: string): Promise<string[]> =>
    Promise.all(Array.from({ length: count }, (_, index) => tryLogin(hosts[index % 2]!, password)));

  it('50 guesses: five are verified, the others are not', async () => {
    const outcomes = (await parallel(50, 'wrong')).sort();
    expect(outcomes.slice(0, 5)).toEqual(Array<string>(5).fill('invalid_credentials'));
    expect(outcomes.slice(5)).toEqual(Array<string>(45).fill('too_many_attempts 30'));
    expect(hashers[0].verified.length + hashers[1].verified.length).toBe(5);
  });

  it('20 right passwords, right before the limit: all of them are let in', async () => {
    await fail(hosts[0], 4);
    expect(await parallel(20, PASSWORD)).toEqual(Array<string>(20).fill('ok'));
  });

  it('one behind a delay: the others hear of what it came to', async () => {
    await fail(hosts[0], 5);
    for (const host of hosts) host.clock.advance(30 * SECOND);
    const outcomes = (await parallel(10, 'wrong')).sort();
    expect(outcomes).toEqual(['invalid_credentials', ...Array<string>(9).fill('too_many_attempts 60')]);
  });

  it('a slot whose process died is free again after half a minute', async () => {
    await hosts[0].dataSource.query('SELECT 1');
    await fail(hosts[0], 4);
    await hosts[0].dataSource.query(
      `UPDATE auth_login_failures SET pending = 5, pending_until = ${hosts[0].clock.now() + 30 * SECOND}`,
    );
    for (const host of hosts) host.clock.advance(30 * SECOND);
    expect(await tryLogin(hosts[1], PASSWORD)).toBe('ok');
  });
});
