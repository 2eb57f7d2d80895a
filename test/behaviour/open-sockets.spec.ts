import { EventEmitter2 } from '@nestjs/event-emitter';
import { AuthUser, OpenSockets, SessionAdministration } from 'nestjs-session-auth';
import { setActive } from '../e2e/stories';
import { createDatabase, DATABASES, type TestDatabase } from '../support/databases';
import { DAY } from '../support/driven-clock';
import { Host, PASSWORD, type LoginAnswer } from '../support/host';
import { statementsOf, Tap } from '../support/tap';

describe.each(DATABASES)('open sockets on %s', (name) => {
  let database: TestDatabase;
  /** Two instances on one database: what ends on the one is found by the other. */
  let here: Host;
  let there: Host;
  let closed: string[];

  beforeAll(async () => {
    database = await createDatabase(name);
    here = await Host.start({ database, auth: { recentLogin: { endpoint: true } } });
    there = await Host.start({ database, users: [] });
  });
  afterAll(async () => {
    await here.close();
    await there.close();
    await database.drop();
  });
  beforeEach(async () => {
    await here.reset();
    closed = [];
  });

  const open = (host: Host, { session_id: id }: LoginAnswer, label: string = id): (() => void) =>
    host.app.get(OpenSockets).register(id, () => void closed.push(label));
  const check = (host: Host): Promise<number> => host.app.get(OpenSockets).check();

  it.each([
    ['a password change', '/auth/password/change', { current_password: PASSWORD, new_password: PASSWORD }],
    ['a reauthentication', '/auth/reauthenticate', { password: PASSWORD }],
  ])(
    'of the session that %s keeps are closed, here immediately and on other instances by the check',
    async (_, path, body) => {
      const login = await here.login();
      open(here, login, 'here');
      open(there, login, 'there');
      here.clock.advance(1);
      there.clock.advance(1);
      const { body: pair } = await here.post(path, login.access_token, body).expect(200);
      expect(closed).toEqual(['here']);
      open(there, login, 'there, with the new pair');
      expect(await check(there)).toBe(1);
      expect(closed).toEqual(['here', 'there']);
      await here.get('/me', pair.access_token).expect(200);
      expect(await check(there)).toBe(0);
      await here.post('/auth/logout', pair.access_token).expect(200);
      expect(await check(there)).toBe(1);
    },
  );

  it('are closed where the password was changed between the check of their token and their registration', async () => {
    const login = await here.login();
    const principal = (await there.auth.authenticate(login.access_token))!;
    for (const host of [here, there]) host.clock.advance(1);
    const change = { current_password: PASSWORD, new_password: PASSWORD };
    const { body: pair } = await here.post('/auth/password/change', login.access_token, change).expect(200);
    there.clock.advance(1);
    there.app.get(OpenSockets).register(principal, () => void closed.push('of the old token'));
    const current = (await there.auth.authenticate(pair.access_token))!;
    there.app.get(OpenSockets).register(current, () => void closed.push('of the new token'));
    expect(await check(there)).toBe(1);
    expect(closed).toEqual(['of the old token']);
    there.app.get(OpenSockets).closeOf([login.session_id]);
  });

  it('of old tokens are closed by the check though the password was changed on an instance whose clock is behind', async () => {
    here.clock.advance(2_000);
    const login = await here.login();
    const principal = (await here.auth.authenticate(login.access_token))!;
    here.app.get(OpenSockets).register(principal, () => void closed.push('of the old token'));
    there.clock.advance(1_000);
    const change = { current_password: PASSWORD, new_password: PASSWORD };
    await there.post('/auth/password/change', login.access_token, change).expect(200);
    there.clock.advance(1_000);
    expect(await check(here)).toBe(1);
    expect(closed).toEqual(['of the old token']);
  });

  const ENDS: Readonly<Record<string, (login: LoginAnswer) => Promise<unknown>>> = {
    'a logout': ({ access_token: token }) => here.post('/auth/logout', token).expect(200),
    'a logout everywhere': ({ access_token: token }) => here.post('/auth/logout/all', token).expect(200),
    'its owner': async ({ session_id: id }) => {
      await here.delete(`/auth/sessions/${id}`, (await here.login()).access_token).expect(200);
    },
    'an administrator': () =>
      here.app.get(SessionAdministration).end({ deviceType: 'other' }, { actor: 'carol (support)' }),
    'a token that was used twice': async ({ refresh_token: token }) => {
      await here.refresh(token).expect(200);
      await here.refresh(token).expect(400);
    },
    'a reset password': async () => {
      const { id } = await here.dataSource.getRepository(AuthUser).findOneByOrFail({ username: 'alice' });
      await here.auth.resetPassword(id, PASSWORD);
    },
  };

  it.each(Object.keys(ENDS))('of a session that %s ends are closed immediately, and no others', async (how) => {
    const login = await here.login();
    const bob = await here.login('bob');
    if (how !== 'an administrator') open(here, bob, 'of bob');
    const takeBack = open(here, login, 'taken back');
    open(here, login, 'one');
    open(here, login, 'two');
    takeBack();
    await ENDS[how]!(login);
    expect(closed).toEqual(['one', 'two']);
    here.app.get(OpenSockets).closeOf([bob.session_id]);
  });

  it('are closed though nobody listens to the signals, or their emitter is broken', async () => {
    const login = await here.login();
    open(here, login, 'closed');
    const emit = jest.spyOn(here.app.get(EventEmitter2), 'emit').mockImplementation(() => {
      throw new Error('broken');
    });
    await here.post('/auth/logout', login.access_token).expect(200);
    emit.mockRestore();
    expect(closed).toEqual(['closed']);
  });

  it('of a session that ends on another instance are closed within the interval', async () => {
    jest.useFakeTimers({ doNotFake: EVERYTHING_BUT_TIMEOUTS });
    try {
      const [login, other] = [await here.login(), await here.login()];
      const done = new Promise<void>((resolve) =>
        there.app.get(OpenSockets).register(login.session_id, () => {
          closed.push('ended');
          resolve();
        }),
      );
      open(there, other, 'of a live session');
      await here.post('/auth/logout', login.access_token).expect(200);
      jest.advanceTimersByTime(29_999);
      expect(closed).toEqual([]);
      jest.advanceTimersByTime(1);
      await done;
      expect(closed).toEqual(['ended']);
      await here.post('/auth/logout', other.access_token).expect(200);
      expect(await check(there)).toBe(1);
      const checks = jest.spyOn(there.app.get(OpenSockets), 'check');
      jest.advanceTimersByTime(60_000);
      expect(checks).not.toHaveBeenCalled();
      checks.mockRestore();
    } finally {
      jest.useRealTimers();
    }
  });

  it('are closed when the time of their session is over, at the very millisecond', async () => {
    const login = await here.login();
    open(there, login, 'over');
    const start = here.clock.now();
    there.clock.advance(start + 7 * DAY - 1 - there.clock.now());
    expect(await check(there)).toBe(0);
    there.clock.advance(1);
    expect(await check(there)).toBe(1);
    there.clock.advance(start - there.clock.now());
    expect(closed).toEqual(['over']);
  });

  it('are closed when their user is disabled or deleted in the table of the users', async () => {
    await here.auth.createUser({ username: 'carol', password: PASSWORD });
    open(there, await here.login('carol'), 'of carol');
    open(there, await here.login('alice'), 'of alice');
    const bob = await here.login('bob');
    open(there, bob, 'of bob');
    await setActive(here, 'alice', false);
    await here.dataSource.getRepository(AuthUser).delete({ username: 'carol' });
    expect(await check(there)).toBe(2);
    await setActive(here, 'alice', true);
    expect(closed.sort()).toEqual(['of alice', 'of carol']);
    there.app.get(OpenSockets).closeOf([bob.session_id]);
  });

  it('are asked about in one statement, however many they are; a session that nobody knows is over', async () => {
    const logins = await Promise.all(Array.from({ length: 20 }, () => here.login()));
    logins.forEach((login) => open(there, login, 'live'));
    open(there, { ...logins[0]!, session_id: 'UNKNOWN' }, 'unknown');
    open(there, { ...logins[0]!, session_id: logins[0]!.session_id.toUpperCase() }, 'in capitals');
    const tap = new Tap(there);
    const statements: string[] = [];
    tap.hook = { before: (call) => void statements.push(...statementsOf(call)) };
    expect(await check(there)).toBe(1);
    tap.hook = {};
    expect([statements, closed]).toEqual([['SELECT'], ['unknown']]);
    there.app.get(OpenSockets).closeOf(logins.map(({ session_id: id }) => id));
  });

  it('all stay open while the database fails', async () => {
    const login = await here.login();
    open(there, login, 'ended');
    await here.post('/auth/logout', login.access_token).expect(200);
    await here.dataSource.query('ALTER TABLE auth_sessions RENAME TO elsewhere');
    await expect(check(there)).rejects.toMatchObject({ code: 'database_unavailable' });
    await here.dataSource.query('ALTER TABLE elsewhere RENAME TO auth_sessions');
    expect(closed).toEqual([]);
    expect(await check(there)).toBe(1);
    expect(closed).toEqual(['ended']);
  });
});

const EVERYTHING_BUT_TIMEOUTS = [
  'Date',
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setInterval',
  'clearInterval',
] as const satisfies readonly string[] as never;
