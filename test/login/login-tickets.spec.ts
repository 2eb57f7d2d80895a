import { AuthLoginTicket, type ClientInfo, SessionAdministration, VerificationUnavailable } from 'nestjs-session-auth';
import { SECOND } from '../support/driven-clock';
import { restorePassword, describeOnEachDatabase } from '../support/environment';
import { okOrCode, CREDENTIALS, PASSWORD } from '../support/test-application';
import {
  auth,
  CLIENT,
  enrolled,
  INVALID_TICKET,
  namesOf,
  REQUIRED,
  right,
  sessionsOf,
  ticketFor,
  ticketsOf,
  wrong,
} from './enrolled-users';

describeOnEachDatabase('login tickets', { auth }, ({ app, tap }) => {
  const current = async () => app.principal((await app.auth.openSession(await app.userId())).accessToken);

  it('a login ticket opens one session, also when it is presented in parallel', async () => {
    const ticket = await ticketFor(app);
    const open = () => okOrCode(app.auth.openSession({ ticket }));
    const outcomes = await Promise.all(Array.from({ length: 8 }, open));
    expect([...outcomes, await open()].sort()).toEqual([...Array<string>(8).fill('invalid_login_ticket'), 'ok']);
    expect(await sessionsOf(app)).toBe(1);
    expect(await namesOf(app)).toEqual(['login_success', 'first_factor_success']);
  });

  it('a token of another kind, an unknown ticket and a value of another type are refused as login tickets', async () => {
    const { token } = await app.auth.createPasswordResetToken(await app.userId());
    const ticket = await ticketFor(app);
    const other = `${ticket.slice(0, 5)}${ticket[5] === 'A' ? 'B' : 'A'}${ticket.slice(6)}`;
    const values = ['', 'nsal_', null, undefined, 7, {}, 'x'.repeat(55)];
    for (const text of [token, other, ticket.slice(0, -1), `${ticket} `, ticket.toUpperCase(), ...values]) {
      await expect(app.auth.openSession({ ticket: text as never })).rejects.toMatchObject(INVALID_TICKET);
      await expect(right(app, text as never)).rejects.toMatchObject(INVALID_TICKET);
    }
  });

  it('a ticket takes precedence over an id in the same object, such as a forwarded request body', async () => {
    const id = await app.userId('bob');
    await expect(app.auth.openSession({ ticket: 'invalid', id })).rejects.toMatchObject(INVALID_TICKET);
    const { accessToken } = await app.auth.openSession({ ticket: await ticketFor(app), id });
    expect((await app.principal(accessToken)).userId).toBe(await app.userId());
  });

  it('no login ticket is created for an unknown or disabled user, without a method, or for data that cannot be stored', async () => {
    const id = await app.userId();
    const create = (userId = id, methods = ['hwk'], data = {}) => app.auth.createLoginTicket(userId, { methods, data });
    expect(await okOrCode(create('nobody'))).toBe('unknown_user');
    await app.setActive('alice', false);
    expect(await okOrCode(create())).toBe('unknown_user');
    await app.setActive('alice', true);
    await expect(create(id, [])).rejects.toThrow('methods is []');
    await expect(create(id, ['hwk'], { tenant: new Date() })).rejects.toThrow('as JSON');
    const ticket = await create();
    const opening = app.auth.openSession({ ticket }, {}, { methods: ['otp'] });
    await expect(opening).rejects.toThrow('openSession() received a ticket with methods or rememberMe');
    expect(await ticketsOf(app)).toBe(1);
  });

  it('logins with the right password from another network do not end the login ticket of the user', async () => {
    const { ticket: owners } = await app.auth.verifyCredentials(CREDENTIALS, CLIENT);
    const attackers: string[] = [];
    for (let i = 0; i < 20; i++) {
      app.clock.advance(SECOND);
      // The addresses of one /64 are one network.
      attackers.push((await app.auth.verifyCredentials(CREDENTIALS, { ipAddress: `2001:db8::${i}` })).ticket);
    }
    expect(await ticketsOf(app)).toBe(20);
    await expect(right(app, attackers[0]!)).rejects.toMatchObject(INVALID_TICKET);
    for (const ticket of [owners, attackers[1]!, attackers[19]!]) expect(await right(app, ticket)).toBe(true);
    await app.auth.openSession({ ticket: owners }, CLIENT);
  });

  const change = { currentPassword: PASSWORD, newPassword: PASSWORD };
  const whileDisabled = async (present: () => Promise<unknown>): Promise<void> => {
    await app.setActive('alice', false);
    await expect(present()).rejects.toMatchObject(INVALID_TICKET);
  };
  const endings: [string, (id: string, ticket: string) => Promise<unknown>][] = [
    ['a password change', async () => app.auth.changePassword(await current(), change)],
    ['a password reset', (id) => app.auth.resetPassword(id, PASSWORD)],
    ['disabling the user', (id) => app.auth.disableUser(id)],
    ['forgetting the user', (id) => app.auth.forgetUser(id)],
    ['a logout of all others', async () => app.auth.logoutAll(await current(), { keepCurrent: true })],
    ['the reuse of a refresh token', () => app.reuseToken()],
    [
      'an administrator who ends all sessions of the user',
      (userId) => app.nest.get(SessionAdministration).end({ userId }, { actor: 'carol' }),
    ],
    ['an attempt while the user is disabled', (_, ticket) => whileDisabled(() => right(app, ticket))],
    ['its use while the user is disabled', (_, ticket) => whileDisabled(() => app.auth.openSession({ ticket }))],
  ];

  it.each(endings)('a login ticket ends with %s', async (_, end) => {
    const ticket = await ticketFor(app);
    const bobs = await app.auth.createLoginTicket(await app.userId('bob'), { methods: ['hwk'] });
    await end(await app.userId(), ticket);
    await app.setActive('alice', true);
    await expect(app.auth.openSession({ ticket })).rejects.toMatchObject(INVALID_TICKET);
    await expect(right(app, ticket)).rejects.toMatchObject(INVALID_TICKET);
    await app.auth.openSession({ ticket: bobs });
    await restorePassword(app);
  });

  it('a login ticket allows at most five failures, also in parallel', async () => {
    const ticket = await ticketFor(app);
    // A success does not count as a failure.
    expect(await right(app, ticket)).toBe(true);
    const check = jest.fn(() => false);
    const attempts = Array.from({ length: 12 }, () => app.auth.attempt({ ticket, method: 'otp' }, CLIENT, check));
    const outcomes = await Promise.allSettled(attempts);
    expect(check).toHaveBeenCalledTimes(5);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    await expect(right(app, ticket)).rejects.toMatchObject(INVALID_TICKET);
  });

  it('attempts are throttled per user and method across tickets and networks, without calling the check', async () => {
    const check = jest.fn(() => false);
    const guess = async (client: ClientInfo) => {
      const ticket = await app.auth.createLoginTicket(await app.userId(), { methods: ['hwk'] });
      return okOrCode(app.auth.attempt({ ticket, method: 'otp' }, client, check));
    };
    for (let i = 0; i < 10; i++) expect(await guess(CLIENT)).toBe('ok');
    expect(await guess(CLIENT)).toBe('too_many_attempts');
    expect(app.sent('login_blocked')).toMatchObject([{ username: 'alice', scope: 'network' }]);
    const bobs = await app.auth.createLoginTicket(await app.userId('bob'), { methods: ['hwk'] });
    expect(await wrong(app, bobs)).toBe(false);
    expect(await wrong(app, await ticketFor(app), CLIENT, 'recovery')).toBe(false);
    await app.dataSource.query('UPDATE auth_login_failures SET failure_count = 98 WHERE failure_count = 10');
    for (const ipAddress of ['198.51.100.1', '198.51.100.2']) expect(await guess({ ipAddress })).toBe('ok');
    expect(await guess({ ipAddress: '192.0.2.1' })).toBe('too_many_attempts');
    expect(check).toHaveBeenCalledTimes(12);
    expect(app.sent('login_blocked')).toMatchObject([{}, { scope: 'account' }]);
  });

  it('a failure streak of a method does not affect passwords or other methods, and ends with resetFailedLogins(), not with a password reset', async () => {
    const guess = async (client = CLIENT, method = 'otp') => wrong(app, await ticketFor(app), client, method);
    for (let i = 0; i < 9; i++) await guess();
    await right(app, await ticketFor(app), 'recovery');
    await app.auth.resetPassword(await app.userId(), PASSWORD);
    await guess();
    expect(await okOrCode(guess())).toBe('too_many_attempts');
    await app.auth.login(CREDENTIALS, CLIENT);
    expect(await guess(CLIENT, 'recovery')).toBe(false);
    app.clock.advance(30 * SECOND);
    await right(app, await ticketFor(app));
    for (let i = 0; i < 9; i++) expect(await guess()).toBe(false);
    await app.auth.resetFailedLogins('alice');
    for (let i = 0; i < 9; i++) expect(await guess()).toBe(false);
  });

  it('a check that returns no boolean is an error, adds no method, and counts as a failure', async () => {
    const ticket = await ticketFor(app);
    for (const [result, kind] of [
      [undefined, 'undefined'],
      [1, 'a number'],
      ['true', 'a string'],
    ]) {
      const attempted = app.auth.attempt({ ticket, method: 'otp' }, CLIENT, () => result as never);
      const message = `The callback passed to attempt() returned ${kind}. Return true or false.`;
      await expect(attempted).rejects.toThrow(message);
    }
    const [stored] = await app.dataSource.getRepository(AuthLoginTicket).find();
    expect(Object.keys(JSON.parse(stored!.methods) as object)).toEqual(['pwd']);
    expect(app.sent('login_failed').map(({ failureCount }) => failureCount)).toEqual([1, 2, 3]);
  });

  it('a check that throws VerificationUnavailable counts as no failure of the ticket, of the session or of the user, and begins no delay', async () => {
    const principal = await current();
    const unavailable = new VerificationUnavailable('the service does not answer');
    for (let i = 0; i < 9; i++) await wrong(app, await ticketFor(app));
    const ticket = await ticketFor(app);
    for (const [target, counted] of [
      [{ ticket }, 9],
      [{ principal }, 0],
    ] as const) {
      const attempted = () => app.auth.attempt({ ...target, method: 'otp' }, CLIENT, () => Promise.reject(unavailable));
      for (let i = 0; i < 12; i++) await expect(attempted()).rejects.toBe(unavailable);
      const rows = await app.dataSource.query('SELECT failure_count FROM auth_login_failures');
      expect(rows).toEqual([{ failure_count: counted }, { failure_count: counted }]);
      expect(await app.auth.attempt({ ...target, method: 'otp' }, CLIENT, () => true)).toBe(true);
    }
    expect(app.sent('login_failed')).toHaveLength(9);
    expect(app.sent('login_blocked')).toEqual([]);
  });

  it('an attempt whose count cannot be taken back rejects with its own error, and counts until the counters expire', async () => {
    const unavailable = new VerificationUnavailable('the service does not answer');
    const ticket = await ticketFor(app);
    tap.hook = {
      before: ({ sql }) => {
        if (/^UPDATE .*auth_login_failures/s.test(sql)) throw new Error('out of order');
      },
    };
    const check = (): Promise<boolean> => Promise.reject(unavailable);
    await expect(app.auth.attempt({ ticket, method: 'otp' }, CLIENT, check)).rejects.toBe(unavailable);
    tap.hook = {};
    await wrong(app, await ticketFor(app));
    app.clock.advance(300 * SECOND);
    await wrong(app, await ticketFor(app));
    expect(app.sent('login_failed').map(({ failureCount }) => failureCount)).toEqual([2, 1]);
  });

  it('a ticket opens no session if only its first method is proven again, or a method with the ticket of another user', async () => {
    const ticket = await ticketFor(app);
    // The second factor may have been enabled since the first step.
    enrolled.names.add('alice').add('bob');
    await right(app, ticket, 'pwd');
    const { ticket: bobs } = await app.auth.verifyCredentials({ username: 'bob', password: PASSWORD });
    await right(app, bobs);
    await expect(app.auth.openSession({ ticket })).rejects.toMatchObject(REQUIRED);
    const { accessToken } = await app.auth.openSession({ ticket: bobs });
    expect((await app.principal(accessToken)).userId).toBe(await app.userId('bob'));
  });

  it('a login ticket expires to the millisecond after five minutes, and is pruned afterwards', async () => {
    const [early, late] = [await ticketFor(app), await ticketFor(app)];
    app.clock.advance(300 * SECOND - 1);
    expect(await app.pruning.prune()).toMatchObject({ loginTickets: 0 });
    await app.auth.openSession({ ticket: early });
    app.clock.advance(1);
    await expect(app.auth.openSession({ ticket: late })).rejects.toMatchObject(INVALID_TICKET);
    await expect(right(app, late)).rejects.toMatchObject(INVALID_TICKET);
    expect(await app.pruning.prune({ dryRun: true })).toMatchObject({ loginTickets: 1 });
    expect(await app.pruning.prune()).toMatchObject({ loginTickets: 1 });
    expect(await ticketsOf(app)).toBe(0);
  });

  it('an attempt passes the user to the check, and returns its result or rejects with its error, which counts as a failure', async () => {
    const ticket = await ticketFor(app);
    const attempt = (check: Parameters<typeof app.auth.attempt>[2]) =>
      app.auth.attempt({ ticket, method: 'otp' }, CLIENT, check);
    const check = jest.fn(({ username }: { username: string }) => username === 'bob');
    expect(await attempt(check)).toBe(false);
    expect(check.mock.calls).toEqual([[{ id: await app.userId(), username: 'alice' }]]);
    const failure = new Error('no connection');
    await expect(attempt(() => Promise.reject(failure))).rejects.toBe(failure);
    expect(app.sent('login_failed').map(({ failureCount }) => failureCount)).toEqual([1, 2]);
  });
});
