import { AuthUser, type AuthModuleOptions } from 'nestjs-session-auth';
import { CountingHasher } from '../support/counting-hasher';
import { MINUTE, SECOND } from '../support/driven-clock';
import { Host, PASSWORD } from '../support/host';
import { Tap } from '../support/tap';
import { restorePassword, stories, type Stage } from './stories';

const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** The network of the user, and one from which the user never logged in. */
const HOME = '203.0.113.7';
const ELSEWHERE = '192.0.2.1';
const BLOCKED = 'too_many_attempts 86400';

const hasher = new CountingHasher();
const auth = (more: AuthModuleOptions = {}): { auth: AuthModuleOptions } => ({
  auth: { passwordHasher: hasher, recentLogin: { endpoint: true }, ...more },
});

/** What became of one login: `ok`, or the code of its refusal with the seconds to wait. */
async function tryLogin(host: Host, password: string, ipAddress?: string, username = 'alice'): Promise<string> {
  try {
    await host.auth.login({ username, password }, { ipAddress: ipAddress ?? null });
    return 'ok';
  } catch (error) {
    const { code, retryAfterSeconds } = error as { code: string; retryAfterSeconds: number | null };
    return retryAfterSeconds === null ? code : `${code} ${retryAfterSeconds}`;
  }
}

/** Wrong passwords for one name, each from a network of its own. */
async function guess(host: Host, times: number, username = 'alice'): Promise<void> {
  for (let i = 0; i < times; i++) {
    expect(await tryLogin(host, 'wrong', `198.51.100.${i}`, username)).toBe('invalid_credentials');
  }
}

async function idOf(host: Host, username: string): Promise<string> {
  return (await host.dataSource.getRepository(AuthUser).findOneByOrFail({ username })).id;
}

stories('a hundred failed logins in a row from anywhere', auth(), (at: Stage) => {
  it('block logins from unfamiliar networks for 24 hours, and Retry-After gives the remaining seconds', async () => {
    const { host } = at;
    await guess(host, 99);
    host.clock.advance(HOUR);
    expect(await tryLogin(host, 'wrong', ELSEWHERE)).toBe('invalid_credentials');
    expect(await tryLogin(host, PASSWORD, ELSEWHERE)).toBe(BLOCKED);
    host.clock.advance(HOUR);
    const { headers } = await host.http.post('/auth/login').send({ username: 'alice', password: PASSWORD }).expect(429);
    expect(headers['retry-after']).toBe(String(23 * 3600));
    host.clock.advance(23 * HOUR - 1);
    expect(await tryLogin(host, PASSWORD, ELSEWHERE)).toBe('too_many_attempts 1');
    host.clock.advance(1);
    expect(await tryLogin(host, PASSWORD, ELSEWHERE)).toBe('ok');
  });

  it('are forgotten after the block, so that another hundred begin the next one', async () => {
    const { host } = at;
    await guess(host, 100);
    host.clock.advance(DAY);
    await guess(host, 99);
    expect(await tryLogin(host, PASSWORD, ELSEWHERE)).toBe('ok');
    await guess(host, 100);
    expect(await tryLogin(host, PASSWORD, '192.0.2.2')).toBe(BLOCKED);
  });

  it('do not block networks from which the user has logged in, and a login from there ends the block', async () => {
    const { host } = at;
    expect(await tryLogin(host, PASSWORD, HOME)).toBe('ok');
    await guess(host, 100);
    expect(await tryLogin(host, PASSWORD, ELSEWHERE)).toBe(BLOCKED);
    expect(await tryLogin(host, 'wrong', HOME)).toBe('invalid_credentials');
    expect(await tryLogin(host, PASSWORD, HOME)).toBe('ok');
    expect(await tryLogin(host, PASSWORD, ELSEWHERE)).toBe('ok');
  });

  it('do not block the network from which an active session was last refreshed', async () => {
    const { host } = at;
    const { refreshToken } = await host.auth.login({ username: 'alice', password: PASSWORD }, { ipAddress: HOME });
    const moved = await host.auth.refresh(refreshToken, { ipAddress: ELSEWHERE });
    await guess(host, 100);
    expect(await tryLogin(host, 'wrong', ELSEWHERE)).toBe('invalid_credentials');
    await host.auth.logout((await host.auth.authenticate(moved.accessToken))!);
    expect(await tryLogin(host, PASSWORD, ELSEWHERE)).toBe(BLOCKED);
  });

  it("do not make another user's network familiar", async () => {
    const { host } = at;
    expect(await tryLogin(host, PASSWORD, HOME, 'bob')).toBe('ok');
    await guess(host, 100);
    expect(await tryLogin(host, PASSWORD, HOME)).toBe(BLOCKED);
  });

  it('delay a familiar network like any other', async () => {
    const { host } = at;
    expect(await tryLogin(host, PASSWORD, HOME)).toBe('ok');
    await guess(host, 100);
    for (let i = 0; i < 10; i++) expect(await tryLogin(host, 'wrong', HOME)).toBe('invalid_credentials');
    expect(await tryLogin(host, PASSWORD, HOME)).toBe('too_many_attempts 30');
    host.clock.advance(30 * SECOND);
    expect(await tryLogin(host, PASSWORD, HOME)).toBe('ok');
  });

  it('begin a block that neither refused attempts nor failures from familiar networks extend', async () => {
    const { host } = at;
    expect(await tryLogin(host, PASSWORD, HOME)).toBe('ok');
    await guess(host, 100);
    host.clock.advance(DAY - HOUR);
    for (let i = 0; i < 5; i++) {
      expect(await tryLogin(host, 'wrong', HOME)).toBe('invalid_credentials');
      expect(await tryLogin(host, 'wrong', ELSEWHERE)).toBe('too_many_attempts 3600');
    }
    host.clock.advance(HOUR);
    expect(await tryLogin(host, PASSWORD, ELSEWHERE)).toBe('ok');
  });

  it('do not affect open sessions: they refresh, end others, and confirm and change the password', async () => {
    const { host } = at;
    const login = { username: 'alice', password: PASSWORD };
    const opened = await host.auth.login(login, { ipAddress: HOME });
    const other = await host.auth.login(login, { ipAddress: ELSEWHERE });
    await guess(host, 100);
    const { body: refreshed } = await host.refresh(opened.refreshToken).expect(200);
    await host.delete(`/auth/sessions/${other.sessionId}`, refreshed.access_token).expect(200);
    const { body: pair } = await host
      .post('/auth/reauthenticate', refreshed.access_token, { password: PASSWORD })
      .expect(200);
    const change = { current_password: PASSWORD, new_password: 'another long password' };
    await host.post('/auth/password/change', pair.access_token, change).expect(200);
    expect(await tryLogin(host, change.new_password, '192.0.2.77')).toBe(BLOCKED);
    await restorePassword(host);
  });

  it('are reset by a password reset and by resetFailedLogins()', async () => {
    const { host } = at;
    await guess(host, 100);
    await host.auth.resetFailedLogins('alice');
    expect(await tryLogin(host, PASSWORD, ELSEWHERE)).toBe('ok');
    await guess(host, 100);
    await host.auth.resetPassword(await idOf(host, 'alice'), 'a password that is new');
    expect(await tryLogin(host, 'a password that is new', '192.0.2.9')).toBe('ok');
    await restorePassword(host);
  });

  it('block an unknown name in the same way and for the same time', async () => {
    const { host } = at;
    for (const name of ['alice', 'mallory']) await guess(host, 100, name);
    host.clock.advance(DAY - 1);
    await host.pruning.prune();
    const outcomes = ['alice', 'mallory'].map((name) => tryLogin(host, 'wrong', ELSEWHERE, name));
    expect(await Promise.all(outcomes)).toEqual(['too_many_attempts 1', 'too_many_attempts 1']);
    host.clock.advance(1);
    const later = ['alice', 'mallory'].map((name) => tryLogin(host, 'wrong', ELSEWHERE, name));
    expect(await Promise.all(later)).toEqual(['invalid_credentials', 'invalid_credentials']);
    host.clock.advance(DAY);
    await host.pruning.prune();
    expect(await host.dataSource.query('SELECT * FROM auth_login_failures')).toEqual([]);
  });

  it('are refused by the same statements for known and unknown names', async () => {
    const { host } = at;
    for (const name of ['alice', 'mallory']) await guess(host, 100, name);
    const tap = new Tap(host);
    const statementsFor = async (name: string): Promise<string[]> => {
      const statements: string[] = [];
      tap.hook = { before: ({ kind, sql }) => void (kind === 'statement' && statements.push(sql)) };
      expect(await tryLogin(host, PASSWORD, ELSEWHERE, name)).toBe(BLOCKED);
      tap.hook = {};
      return statements;
    };
    const known = await statementsFor('alice');
    expect(known.length).toBeGreaterThan(4);
    expect(await statementsFor('mallory')).toEqual(known);
  });

  it('emit a signal at the 50th failure and when the block begins, and record the block once', async () => {
    const { host } = at;
    await guess(host, 100);
    for (let i = 0; i < 3; i++) expect(await tryLogin(host, PASSWORD, ELSEWHERE)).toBe(BLOCKED);
    const userId = await idOf(host, 'alice');
    const until = new Date(host.clock.now() + DAY);
    expect(host.sent('brute_force_threshold_hit')).toEqual([
      { username: 'alice', ipAddress: '198.51.100.49', failureCount: 50, scope: 'account' },
    ]);
    expect(host.sent('login_blocked')).toEqual([
      { username: 'alice', userId, ipAddress: '198.51.100.99', scope: 'account', until },
    ]);
    const events = (await host.auth.history(userId, { limit: 200 })).filter(({ event }) => event === 'login_blocked');
    expect(events).toMatchObject([
      { ipAddress: '198.51.100.99', extra: { scope: 'account', until: until.toISOString() } },
    ]);
  });

  it('are signalled without the name where nobody has it', async () => {
    const { host } = at;
    await guess(host, 100, 'my secret passphrase');
    expect(host.sent('login_blocked')).toMatchObject([{ username: 'my********', userId: null, scope: 'account' }]);
    expect(host.sent('brute_force_threshold_hit')).toMatchObject([{ username: 'my********' }]);
    const rows = await host.dataSource.query("SELECT user_id, extra FROM auth_events WHERE event = 'login_blocked'");
    expect(rows).toHaveLength(1);
    expect(rows[0].user_id).toBeNull();
  });
});

stories('fewer than a hundred failed logins in a row', auth(), (at: Stage) => {
  it.each(['alice', 'mallory'])('are forgotten 24 hours after the last one, for %s', async (name) => {
    const { host } = at;
    await guess(host, 98, name);
    host.clock.advance(DAY - 1);
    await host.pruning.prune();
    await guess(host, 1, name);
    host.clock.advance(DAY);
    await guess(host, 99, name);
    expect(await tryLogin(host, 'wrong', ELSEWHERE, name)).toBe('invalid_credentials');
    expect(await tryLogin(host, 'wrong', ELSEWHERE, name)).toBe(BLOCKED);
  });

  it('leave the last slot to strangers, but a familiar network needs none', async () => {
    const { host } = at;
    expect(await tryLogin(host, PASSWORD, HOME)).toBe('ok');
    await guess(host, 99);
    await host.dataSource.query(
      `UPDATE auth_login_failures SET pending = 1, pending_until = ${host.clock.now() + 30 * SECOND}
       WHERE failure_count = 99`,
    );
    hasher.verified.length = 0;
    expect(await tryLogin(host, PASSWORD, HOME)).toBe('ok');
    expect(hasher.verified).toHaveLength(1);
  });

  it('are reported for each delay that begins, but not for refused attempts', async () => {
    const { host } = at;
    for (let i = 0; i < 10; i++) await tryLogin(host, 'wrong', ELSEWHERE);
    for (let i = 0; i < 3; i++) await tryLogin(host, PASSWORD, ELSEWHERE);
    const [first, second] = [host.clock.now() + 30 * SECOND, host.clock.now() + 90 * SECOND];
    host.clock.advance(30 * SECOND);
    await tryLogin(host, 'wrong', ELSEWHERE);
    expect(host.sent('login_blocked').map(({ scope, until }) => [scope, until?.getTime()])).toEqual([
      ['network', first],
      ['network', second],
    ]);
    const history = await host.auth.history(await idOf(host, 'alice'));
    const blocks = history.filter(({ event }) => event === 'login_blocked').map(({ extra }) => extra);
    expect(blocks).toEqual([second, first].map((at) => ({ scope: 'network', until: new Date(at).toISOString() })));
  });
});

stories('a block of every network', auth({ failedLogins: { accountBlock: 'strict' } }), (at: Stage) => {
  it('ends with a password reset or a call that resets it, and with nothing else', async () => {
    const { host } = at;
    const session = await host.auth.login({ username: 'alice', password: PASSWORD }, { ipAddress: HOME });
    await guess(host, 100);
    host.clock.advance(6 * DAY);
    await host.pruning.prune();
    const { body: pair } = await host.refresh(session.refreshToken).expect(200);
    await host.post('/auth/reauthenticate', pair.access_token, { password: PASSWORD }).expect(200);
    for (const network of [HOME, ELSEWHERE]) expect(await tryLogin(host, PASSWORD, network)).toBe(BLOCKED);
    await host.auth.resetFailedLogins('alice');
    expect(await tryLogin(host, PASSWORD, ELSEWHERE)).toBe('ok');
    await guess(host, 100);
    await host.auth.resetPassword(await idOf(host, 'alice'), PASSWORD);
    expect(await tryLogin(host, PASSWORD, '192.0.2.9')).toBe('ok');
  });

  it('has no end in its signal and its event', async () => {
    const { host } = at;
    await guess(host, 100);
    expect(host.sent('login_blocked')).toMatchObject([{ scope: 'account', until: null }]);
    const [{ extra }] = await host.dataSource.query("SELECT extra FROM auth_events WHERE event = 'login_blocked'");
    expect(JSON.parse(extra)).toEqual({ scope: 'account', until: null });
  });

  it('is pruned after 30 days for a name that nobody has, and until then refused alike', async () => {
    const { host } = at;
    for (const name of ['alice', 'mallory']) await guess(host, 100, name);
    host.clock.advance(30 * DAY - 1);
    await host.pruning.prune();
    for (const name of ['alice', 'mallory']) expect(await tryLogin(host, PASSWORD, ELSEWHERE, name)).toBe(BLOCKED);
    host.clock.advance(1);
    await host.pruning.prune();
    expect(await host.dataSource.query('SELECT failure_count FROM auth_login_failures')).toHaveLength(1);
    expect(await tryLogin(host, PASSWORD, ELSEWHERE)).toBe(BLOCKED);
  });
});

stories('no block of the account', auth({ failedLogins: { accountBlock: false } }), (at: Stage) => {
  it('leaves the delays of each network', async () => {
    const { host } = at;
    await guess(host, 120);
    expect(await tryLogin(host, PASSWORD, ELSEWHERE)).toBe('ok');
    for (let i = 0; i < 10; i++) expect(await tryLogin(host, 'wrong', ELSEWHERE)).toBe('invalid_credentials');
    expect(await tryLogin(host, PASSWORD, ELSEWHERE)).toBe('too_many_attempts 30');
    expect(host.sent('login_blocked')).toMatchObject([{ scope: 'network' }]);
    expect(host.sent('brute_force_threshold_hit')).toMatchObject([{ scope: 'network' }]);
  });
});

stories('a block of an account whose networks are not known', auth({ trackIps: false }), (at: Stage) => {
  it('spares none of them', async () => {
    const { host } = at;
    expect(await tryLogin(host, PASSWORD, HOME)).toBe('ok');
    expect(await tryLogin(host, PASSWORD)).toBe('ok');
    await guess(host, 100);
    for (const network of [HOME, undefined]) expect(await tryLogin(host, PASSWORD, network)).toBe(BLOCKED);
  });
});
