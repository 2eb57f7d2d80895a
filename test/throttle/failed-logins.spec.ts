import { AuthUser } from 'nestjs-session-auth';
import { sha256 } from '../../libs/auth/src/base/random';
import { CountingHasher } from '../support/counting-hasher';
import { DAY, HOUR, MINUTE, SECOND } from '../support/driven-clock';
import { pending } from '../support/tap';
import { PASSWORD, type TestApplication } from '../support/test-application';
import { describeOnEachDatabase } from '../support/environment';
import { expectLogin, fail, failElsewhere, tryLoginFrom } from './try-login';

const hasher = new CountingHasher();
const HOME = '192.0.2.1';
const TOO_MANY = { detail: 'Too many failed attempts. Try again later.' };

describeOnEachDatabase('failed logins', { auth: { passwordHasher: hasher } }, ({ app, start, tap }) => {
  it('after ten failures, logins fail with 429 and the seconds to wait, even with the right password', async () => {
    const expectDelay = async (password: string, seconds: string): Promise<void> => {
      const answer = await app.http.post('/auth/login/').send({ username: 'alice', password }).expect(429, TOO_MANY);
      expect(answer.headers).toMatchObject({ 'retry-after': seconds, 'cache-control': 'no-store' });
    };
    for (let i = 0; i < 10; i++) await app.failLogin();
    await expectDelay('wrong', '30');
    await expectDelay(PASSWORD, '30');
    app.clock.advance(30 * SECOND - 1);
    await expectDelay(PASSWORD, '1');
    app.clock.advance(1);
    await app.login();
  });

  it('a wrong password stays counted if its event cannot be stored', async () => {
    tap.hook = {
      before: ({ sql, only }) => {
        if (/INSERT INTO\W+auth_events/.test(sql + (only?.sql ?? ''))) throw new Error('The disk is full.');
      },
    };
    await app.http.post('/auth/login').send({ username: 'alice', password: 'wrong' }).expect(503);
    tap.hook = {};
    const counters = await app.dataSource.query('SELECT failure_count FROM auth_login_failures');
    expect(counters).toEqual([{ failure_count: 1 }, { failure_count: 1 }]);
  });

  it.each(['alice', 'nobody'])(
    'failed logins are delayed by 30 s, doubled each time, up to an hour, for %s',
    async (name) => {
      await fail(app, 9, HOME, name);
      for (const seconds of [30, 60, 120, 240, 480, 960, 1920, 3600, 3600]) {
        await fail(app, 1, HOME, name);
        expect(await tryLoginFrom(app, HOME, 'wrong', name)).toBe(`too_many_attempts ${seconds}`);
        app.clock.advance(seconds * SECOND);
      }
    },
  );

  it('a delay lasts at most an hour if the clock is set back', async () => {
    await fail(app, 10);
    app.clock.advance(-30 * DAY);
    for (const password of ['wrong', PASSWORD])
      expect(await tryLoginFrom(app, HOME, password)).toBe('too_many_attempts 3600');
    app.clock.advance(HOUR - 1);
    await expectLogin(app, HOME, 'too_many_attempts 1');
    app.clock.advance(1);
    await expectLogin(app, HOME, 'ok');
    app.clock.advance(30 * DAY);
  });

  it('failed logins do not affect the user on another network, open sessions or refreshes', async () => {
    const session = await app.login();
    await fail(app, 10);
    await expectLogin(app, '192.0.2.2', 'ok');
    await app.expectLive(session);
    await app.refreshed(session);
    // The login from the second network does not end the delay on the first network.
    await expectLogin(app, HOME, 'too_many_attempts 30');
  });

  it('failed logins are counted together for all spellings of an address and for a /64, and separately for the next /64', async () => {
    const spellings = ['2001:db8:0:1::1', '2001:0DB8::1:0:0:0:2', '2001:db8:0:1:ffff::3%eth0'];
    for (let i = 0; i < 10; i++) await fail(app, 1, spellings[i % 3]);
    await expectLogin(app, '2001:db8:0:1::99', 'too_many_attempts 30');
    await expectLogin(app, '2001:db8:0:2::1', 'ok');
    await fail(app, 5, '::ffff:192.0.2.9', 'bob');
    await fail(app, 5, '192.0.2.9', 'bob');
    await expectLogin(app, '192.0.2.9', 'too_many_attempts 30', 'bob');
  });

  it('a failure streak ends after the window, or after twice the current delay', async () => {
    const counts = (): number[] => app.sent('login_failed').map(({ failureCount }) => failureCount);
    await fail(app, 9);
    app.clock.advance(5 * MINUTE);
    await fail(app, 10);
    expect(counts().slice(-1)).toEqual([10]);
    for (const seconds of [30, 60, 120, 240]) {
      app.clock.advance(seconds * SECOND);
      await fail(app, 1);
    }
    app.clock.advance(2 * 480 * SECOND - 1);
    await fail(app, 1);
    expect(counts().slice(-1)).toEqual([15]);
    app.clock.advance(2 * 960 * SECOND);
    await fail(app, 1);
    expect(counts().slice(-1)).toEqual([1]);
  });

  it('refused attempts neither create nor change a row, hash no password and emit nothing', async () => {
    const tables = ['auth_login_failures', 'auth_events', 'auth_sessions'];
    const rows = (): Promise<unknown[][]> =>
      Promise.all(tables.map((table) => app.dataSource.query(`SELECT * FROM ${table} ORDER BY 1`)));
    const expectNoTrace = async (refused: string, ...addresses: string[]): Promise<void> => {
      const before = [await rows(), app.signals.length, hasher.verified.length];
      for (const ipAddress of addresses) await expectLogin(app, ipAddress, refused);
      expect([await rows(), app.signals.length, hasher.verified.length]).toEqual(before);
    };
    await failElsewhere(app, 91);
    await fail(app, 9);
    await expectNoTrace('too_many_attempts 86400', HOME, '198.51.100.0', '203.0.113.1', '203.0.113.2');
    await app.auth.resetFailedLogins('alice');
    await fail(app, 10);
    await expectNoTrace('too_many_attempts 30', ...Array<string>(20).fill(HOME));
    app.clock.advance(30 * SECOND);
    await expectLogin(app, HOME, 'ok');
  });

  it("failures are counted per user once a user has the name: a rename keeps the user's streak and frees the name", async () => {
    const users = app.dataSource.getRepository(AuthUser);
    const id = await app.userId();
    const bob = await app.auth.createUser({ username: 'bob-renamed', password: PASSWORD });
    await fail(app, 10);
    // The library's own table contains the digest of the name in addition to the name.
    const rename = async (userId: typeof bob.id, username: string): Promise<void> => {
      await users.update({ id: String(userId) }, { username, usernameKey: sha256(username) });
    };
    await rename(id, 'alice-renamed');
    await rename(bob.id, 'alice');
    await expectLogin(app, HOME, 'too_many_attempts 30', 'alice-renamed');
    await expectLogin(app, HOME, 'ok', 'alice');
    await rename(bob.id, 'bob-renamed');
    await rename(id, 'alice');
    await app.auth.resetFailedLogins('alice');
    await expectLogin(app, HOME, 'ok');
  });

  it("a guesser's failed logins for one name are not reset by the guesser's successful login under another name", async () => {
    for (let i = 0; i < 10; i++) {
      await fail(app, 1);
      await expectLogin(app, HOME, 'ok', 'bob');
    }
    await expectLogin(app, HOME, 'too_many_attempts 30');
  });

  it('failed logins for a name that is the id of a user do not count against that user', async () => {
    await fail(app, 10, HOME, await app.userId());
    await expectLogin(app, HOME, 'ok');
  });

  it('expired rows of failed logins are pruned', async () => {
    await fail(app, 3, HOME, 'nobody');
    app.clock.advance(5 * MINUTE);
    expect(await app.pruning.prune()).toMatchObject({ loginFailures: 1 });
    app.clock.advance(DAY);
    expect(await app.pruning.prune()).toMatchObject({ loginFailures: 1 });
    expect(await app.dataSource.query('SELECT * FROM auth_login_failures')).toEqual([]);
  });

  it('failed logins are counted and emitted if delays are off', async () => {
    const other = await start({ auth: { failedLogins: { throttleFrom: false } } });
    await fail(other, 6);
    await other.dataSource.query('UPDATE auth_login_failures SET failure_count = 99');
    await fail(other, 2);
    expect(other.sent('login_failed').at(-1)).toMatchObject({ failureCount: 101 });
    expect(other.sent('brute_force_threshold_hit')).toHaveLength(1);
    await expectLogin(other, HOME, 'ok');
  });
});

const LIMIT_OF_FIVE = { auth: { failedLogins: { throttleFrom: 5 }, passwordHasher: hasher } };

describeOnEachDatabase('parallel logins over two instances', LIMIT_OF_FIVE, ({ app, start }) => {
  let apps: readonly [TestApplication, TestApplication];
  beforeEach(async () => {
    apps = [app, await start(LIMIT_OF_FIVE)];
    hasher.verified.length = 0;
  });

  const login = (index: number, password: string): Promise<string> => tryLoginFrom(apps[index % 2]!, HOME, password);

  it('of 50 parallel guesses five are verified, and the others are refused', async () => {
    const outcomes = await Promise.all(Array.from({ length: 50 }, (_, index) => login(index, 'wrong')));
    expect(outcomes.sort()).toEqual([
      ...Array<string>(5).fill('invalid_credentials'),
      ...Array<string>(45).fill('too_many_attempts 30'),
    ]);
    expect(hasher.verified).toHaveLength(5);
  });

  it('of 20 parallel logins with the right password, those beyond the limit are refused until the first succeeds', async () => {
    const { promise, resolve } = pending();
    hasher.held = promise;
    const refused: string[] = [];
    const logins = Array.from({ length: 20 }, async (_, index) => {
      const result = await login(index, PASSWORD);
      if (result !== 'ok') refused.push(result);
      return result;
    });
    while (refused.length < 15) await new Promise(setImmediate);
    hasher.held = null;
    resolve();
    expect((await Promise.all(logins)).filter((result) => result === 'ok')).toHaveLength(5);
    expect(new Set(refused)).toEqual(new Set(['too_many_attempts 30']));
    expect(await login(1, PASSWORD)).toBe('ok');
    expect(apps.flatMap((one) => [...one.sent('login_failed'), ...one.sent('login_blocked')])).toEqual([]);
    expect(await app.dataSource.query('SELECT * FROM auth_login_failures')).toEqual([]);
  });
});
