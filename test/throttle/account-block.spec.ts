import type { AuthModuleRootOptions } from 'nestjs-session-auth';
import { CountingHasher } from '../support/counting-hasher';
import { DAY, HOUR, SECOND } from '../support/driven-clock';
import { pending } from '../support/tap';
import { PASSWORD, type TestApplication } from '../support/test-application';
import { restorePassword, describeOnEachDatabase } from '../support/environment';
import { workOf } from '../support/spellings';
import { expectLogin, fail, failElsewhere, tryLoginFrom } from './try-login';

/** A network from which the user has logged in, and a network from which the user has never logged in. */
const HOME = '203.0.113.7';
const ELSEWHERE = '192.0.2.1';
const BLOCKED = 'too_many_attempts 86400';

const hasher = new CountingHasher();
const auth = (more: AuthModuleRootOptions = {}): { auth: AuthModuleRootOptions } => ({
  auth: { passwordHasher: hasher, endpoints: { reauthenticate: true }, ...more },
});

/** Starts a login whose verification waits for `release`, and waits until the verification begins. */
async function heldLogin(app: TestApplication): Promise<{ release: () => void; result: Promise<string> }> {
  const { promise, resolve } = pending();
  hasher.verified.length = 0;
  hasher.held = promise;
  const result = tryLoginFrom(app, ELSEWHERE, PASSWORD);
  while (hasher.verified.length === 0) await new Promise(setImmediate);
  hasher.held = null;
  return { release: resolve, result };
}

describeOnEachDatabase('the account block', auth(), ({ app, start, tap }) => {
  it('100 failed logins in a row block unfamiliar networks for 24 hours, and Retry-After gives the remaining seconds', async () => {
    await failElsewhere(app, 99);
    app.clock.advance(HOUR);
    await fail(app, 1, ELSEWHERE);
    await expectLogin(app, ELSEWHERE, BLOCKED);
    app.clock.advance(HOUR);
    const { headers } = await app.http.post('/auth/login').send({ username: 'alice', password: PASSWORD }).expect(429);
    expect(headers['retry-after']).toBe(String(23 * 3600));
    app.clock.advance(23 * HOUR - 1);
    await expectLogin(app, ELSEWHERE, 'too_many_attempts 1');
    app.clock.advance(1);
    await expectLogin(app, ELSEWHERE, 'ok');
  });

  it('a block lasts at most 24 hours if the clock is set back', async () => {
    await failElsewhere(app, 100);
    app.clock.advance(-30 * DAY);
    await expectLogin(app, ELSEWHERE, 'too_many_attempts 86400');
    app.clock.advance(DAY);
    await expectLogin(app, ELSEWHERE, 'ok');
    app.clock.advance(29 * DAY);
  });

  it('a block does not affect networks from which the user has logged in, and a login from such a network ends the block', async () => {
    await expectLogin(app, HOME, 'ok');
    await failElsewhere(app, 100);
    await expectLogin(app, ELSEWHERE, BLOCKED);
    await fail(app, 1, HOME);
    await expectLogin(app, HOME, 'ok');
    await expectLogin(app, ELSEWHERE, 'ok');
  });

  it('a block does not affect the network from which an active session was last refreshed', async () => {
    const { refreshToken } = await app.auth.login({ username: 'alice', password: PASSWORD }, { ipAddress: HOME });
    const moved = await app.auth.refresh(refreshToken, { ipAddress: ELSEWHERE });
    await failElsewhere(app, 100);
    await fail(app, 1, ELSEWHERE);
    await app.auth.logout((await app.auth.authenticate(moved.accessToken))!);
    await expectLogin(app, ELSEWHERE, BLOCKED);
  });

  it('a network is familiar only to its own user, and only if addresses are tracked and the address of the client is known', async () => {
    const untracked = await start(auth({ trackIps: false }));
    await expectLogin(app, HOME, 'ok', 'bob');
    await expectLogin(app, null, 'ok');
    await expectLogin(untracked, HOME, 'ok');
    await failElsewhere(app, 100);
    for (const network of [HOME, null]) await expectLogin(app, network, BLOCKED);
    await expectLogin(untracked, HOME, BLOCKED);
  });

  it('a familiar network is delayed after failed logins like any other network', async () => {
    await expectLogin(app, HOME, 'ok');
    await failElsewhere(app, 100);
    await fail(app, 10, HOME);
    await expectLogin(app, HOME, 'too_many_attempts 30');
  });

  it('refused attempts and failures from familiar networks do not extend a block', async () => {
    await expectLogin(app, HOME, 'ok');
    await failElsewhere(app, 100);
    app.clock.advance(DAY - HOUR);
    for (let i = 0; i < 5; i++) {
      await fail(app, 1, HOME);
      expect(await tryLoginFrom(app, ELSEWHERE, 'wrong')).toBe('too_many_attempts 3600');
    }
    app.clock.advance(HOUR);
    await expectLogin(app, ELSEWHERE, 'ok');
  });

  it('during a block, an open session can be refreshed, end other sessions, and confirm and change the password', async () => {
    const login = { username: 'alice', password: PASSWORD };
    const opened = await app.auth.login(login, { ipAddress: HOME });
    const other = await app.auth.login(login, { ipAddress: ELSEWHERE });
    await failElsewhere(app, 100);
    const { access_token: token } = (await app.refresh(opened.refreshToken).expect(200)).body;
    await app.delete(`/auth/sessions/${other.sessionId}`, token).expect(200);
    const { body: pair } = await app.post('/auth/reauthenticate', token, { password: PASSWORD }).expect(200);
    await app.changePassword(pair.access_token, 'another long password').expect(200);
    expect(await tryLoginFrom(app, '192.0.2.77', 'another long password')).toBe(BLOCKED);
    await restorePassword(app);
  });

  it('a password reset and resetFailedLogins() end a block', async () => {
    await failElsewhere(app, 100);
    await app.auth.resetFailedLogins('alice');
    await expectLogin(app, ELSEWHERE, 'ok');
    await failElsewhere(app, 100);
    await app.auth.resetPassword(await app.userId(), 'a password that is new');
    expect(await tryLoginFrom(app, '192.0.2.9', 'a password that is new')).toBe('ok');
    await restorePassword(app);
  });

  it('an unknown name is blocked in the same way, with the same statements and for the same time as a known name', async () => {
    const names = ['alice', 'nobody'];
    const executed: (readonly string[])[] = [];
    for (const name of names) {
      await failElsewhere(app, 100, name);
      const login = () => expectLogin(app, ELSEWHERE, BLOCKED, name);
      executed.push((await workOf(tap, hasher, login)).statements);
    }
    expect(executed[0]!.length).toBeGreaterThan(4);
    expect(executed[1]).toEqual(executed[0]);
    app.clock.advance(DAY - 1);
    await app.pruning.prune();
    for (const name of names) await expectLogin(app, ELSEWHERE, 'too_many_attempts 1', name);
    app.clock.advance(1);
    // The block has reset the failure streak.
    for (const name of names) await fail(app, 2, ELSEWHERE, name);
    app.clock.advance(DAY);
    await app.pruning.prune();
    expect(await app.dataSource.query('SELECT * FROM auth_login_failures')).toEqual([]);
  });

  it('the 50th failure emits a signal, and the beginning of a block is emitted and recorded once', async () => {
    for (let i = 0; i < 100; i++) await fail(app, 1, `198.51.100.${i}`);
    for (let i = 0; i < 3; i++) await expectLogin(app, ELSEWHERE, BLOCKED);
    const userId = await app.userId();
    const until = new Date(app.clock.now() + DAY);
    expect(app.sent('brute_force_threshold_hit')).toEqual([
      { username: 'alice', ipAddress: '198.51.100.49', failureCount: 50, scope: 'account' },
    ]);
    expect(app.sent('login_blocked')).toEqual([
      { username: 'alice', userId, ipAddress: '198.51.100.99', scope: 'account', until },
    ]);
    const extra = { scope: 'account', until: until.toISOString() };
    const events = await app.auth.history(userId, { event: ['login_blocked'] });
    expect(events).toMatchObject([{ ipAddress: '198.51.100.99', extra }]);
  });

  it('a failure streak from all networks ends 24 hours after its last failure', async () => {
    await failElsewhere(app, 98);
    app.clock.advance(DAY - 1);
    await app.pruning.prune();
    await failElsewhere(app, 2);
    await expectLogin(app, ELSEWHERE, BLOCKED);
    await app.auth.resetFailedLogins('alice');
    await failElsewhere(app, 99);
    app.clock.advance(DAY);
    await fail(app, 2, ELSEWHERE);
  });

  it('while the 100th attempt is being verified, other unfamiliar networks are refused, but a familiar network is not', async () => {
    await expectLogin(app, HOME, 'ok');
    await failElsewhere(app, 99);
    const held = await heldLogin(app);
    await expectLogin(app, '192.0.2.2', BLOCKED);
    await fail(app, 1, HOME);
    held.release();
    expect(await held.result).toBe('ok');
    await expectLogin(app, '192.0.2.2', 'ok');
    expect(app.sent('login_blocked')).toEqual([]);
  });

  it('login_blocked is emitted for each delay that begins, but not for refused attempts', async () => {
    await fail(app, 10, ELSEWHERE);
    for (let i = 0; i < 3; i++) await tryLoginFrom(app, ELSEWHERE, PASSWORD);
    const [first, second] = [app.clock.now() + 30 * SECOND, app.clock.now() + 90 * SECOND];
    app.clock.advance(30 * SECOND);
    await tryLoginFrom(app, ELSEWHERE, 'wrong');
    expect(app.sent('login_blocked').map(({ scope, until }) => [scope, until?.getTime()])).toEqual([
      ['network', first],
      ['network', second],
    ]);
    const history = await app.auth.history(await app.userId(), { event: ['login_blocked'] });
    const extras = [second, first].map((at) => ({ scope: 'network', until: new Date(at).toISOString() }));
    expect(history.map(({ extra }) => extra)).toEqual(extras);
  });
});

describeOnEachDatabase('the strict account block', auth({ failedLogins: { accountBlock: 'strict' } }), ({ app }) => {
  it('a strict block ends only with a password reset or resetFailedLogins()', async () => {
    const session = await app.auth.login({ username: 'alice', password: PASSWORD }, { ipAddress: HOME });
    await failElsewhere(app, 100);
    expect(app.sent('login_blocked')).toMatchObject([{ scope: 'account', until: null }]);
    const [{ extra }] = await app.dataSource.query("SELECT extra FROM auth_events WHERE event = 'login_blocked'");
    expect(JSON.parse(extra)).toEqual({ scope: 'account', until: null });
    app.clock.advance(6 * DAY);
    await app.pruning.prune();
    const { body: pair } = await app.refresh(session.refreshToken).expect(200);
    await app.post('/auth/reauthenticate', pair.access_token, { password: PASSWORD }).expect(200);
    for (const network of [HOME, ELSEWHERE]) await expectLogin(app, network, BLOCKED);
    await app.auth.resetFailedLogins('alice');
    await expectLogin(app, ELSEWHERE, 'ok');
    await failElsewhere(app, 100);
    await app.auth.resetPassword(await app.userId(), PASSWORD);
    await expectLogin(app, '192.0.2.9', 'ok');
  });

  it('a login in flight when another attempt begins a strict block succeeds, and does not end the block', async () => {
    await failElsewhere(app, 98);
    const held = await heldLogin(app);
    await fail(app, 1, '203.0.113.200');
    held.release();
    expect(await held.result).toBe('ok');
    await expectLogin(app, HOME, BLOCKED);
  });

  it('a strict block of an unknown name refuses logins like the block of a known name, and is pruned after 30 days', async () => {
    for (const name of ['alice', 'nobody']) await failElsewhere(app, 100, name);
    app.clock.advance(30 * DAY - 1);
    await app.pruning.prune();
    for (const name of ['alice', 'nobody']) await expectLogin(app, ELSEWHERE, BLOCKED, name);
    app.clock.advance(1);
    await app.pruning.prune();
    expect(await app.dataSource.query('SELECT failure_count FROM auth_login_failures')).toHaveLength(1);
    await expectLogin(app, ELSEWHERE, BLOCKED);
  });
});

describeOnEachDatabase('no account block', auth({ failedLogins: { accountBlock: false } }), ({ app }) => {
  it('any number of failed logins delays only the network from which they come', async () => {
    for (let i = 0; i < 101; i++) await fail(app, 1, `198.51.100.${i}`);
    await expectLogin(app, ELSEWHERE, 'ok');
    await fail(app, 10, ELSEWHERE);
    await expectLogin(app, ELSEWHERE, 'too_many_attempts 30');
    expect(app.sent('login_blocked')).toMatchObject([{ scope: 'network' }]);
    expect(app.sent('brute_force_threshold_hit')).toMatchObject([{ scope: 'network' }]);
  });
});
