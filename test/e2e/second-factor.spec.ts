import {
  AuthError,
  AuthLoginFailure,
  AuthLoginTicket,
  AuthSession,
  SecondFactor,
  SessionAdministration,
  type AuthModuleOptions,
  type ClientInfo,
} from 'nestjs-session-auth';
import { inspect } from 'node:util';
import { CountingHasher } from '../support/counting-hasher';
import { MINUTE, SECOND } from '../support/driven-clock';
import { PASSWORD, type Host } from '../support/host';
import { INVALID_CREDENTIALS, restorePassword, setActive, stories, type Stage } from './stories';

/** Requires a second factor of the users who have one. */
class EnrolledUsers extends SecondFactor {
  readonly names = new Set<string>();
  readonly asked: { readonly user: object; readonly client: ClientInfo }[] = [];
  answer: ((required: boolean) => unknown) | null = null;

  isRequired(user: { readonly username: string }, client: ClientInfo): boolean {
    this.asked.push({ user, client });
    const required = this.names.has(user.username);
    return (this.answer ? this.answer(required) : required) as boolean;
  }
}

const enrolled = new EnrolledUsers();
const hasher = new CountingHasher();
const auth: AuthModuleOptions = { secondFactor: enrolled, passwordHasher: hasher };
const CREDENTIALS = { username: 'alice', password: PASSWORD };
const CLIENT: ClientInfo = { ipAddress: '203.0.113.7', userAgent: 'test' };
const INVALID_TICKET = { code: 'invalid_login_ticket', message: 'Invalid or expired login ticket.' };
const REQUIRED = { code: 'second_factor_required' };

const idOf = async (host: Host, username = 'alice'): Promise<string> => {
  const [row] = await host.dataSource.query(`SELECT id FROM auth_users WHERE username = '${username}'`);
  return row.id;
};
const namesOf = async (host: Host, username = 'alice'): Promise<string[]> =>
  (await host.auth.history(await idOf(host, username))).map(({ event }) => event);
const ticketsOf = (host: Host): Promise<number> => host.dataSource.getRepository(AuthLoginTicket).count();
const sessionsOf = (host: Host): Promise<number> => host.dataSource.getRepository(AuthSession).count();
const ticketFor = async (host: Host): Promise<string> => (await host.auth.verifyCredentials(CREDENTIALS)).ticket;
const right = (host: Host, ticket: string, method = 'otp'): Promise<boolean> =>
  host.auth.attempt({ ticket, method }, CLIENT, () => true);
const wrong = (host: Host, ticket: string, client = CLIENT, method = 'otp'): Promise<boolean> =>
  host.auth.attempt({ ticket, method }, client, () => false);

beforeEach(() => {
  enrolled.names.clear();
  enrolled.asked.length = 0;
  enrolled.answer = null;
});

stories('a login of a user who needs a second factor', { auth }, (at: Stage) => {
  beforeEach(() => void enrolled.names.add('alice'));

  it('opens no session: 403 with a login ticket, which opens one after the second factor', async () => {
    const { host } = at;
    const { body, headers } = await host.http.post('/auth/login/').send(CREDENTIALS).expect(403);
    expect(headers['cache-control']).toBe('no-store');
    expect(body).toEqual({
      detail: 'A second factor is required.',
      code: 'second_factor_required',
      login_ticket: expect.stringMatching(/^nsal_[\w-]{44}\w{6}$/),
    });
    expect(await sessionsOf(host)).toBe(0);
    expect(await namesOf(host)).toEqual(['first_factor_success']);
    expect(host.signals).toEqual([]);
    const start = new Date(host.clock.now());
    host.clock.advance(MINUTE);
    const ticket = body.login_ticket as string;
    await expect(host.auth.openSession({ ticket })).rejects.toMatchObject(REQUIRED);
    expect(await right(host, ticket)).toBe(true);
    const { accessToken } = await host.auth.openSession({ ticket }, CLIENT);
    const principal = (await host.auth.authenticate(accessToken))!;
    expect(principal.methods).toEqual({ pwd: start, otp: new Date(host.clock.now()) });
    expect(await namesOf(host)).toEqual(['login_success', 'first_factor_success']);
    expect(host.sent('user_logged_in')).toHaveLength(1);
  });

  it('rejects with the ticket, which no log of the error shows', async () => {
    const { host } = at;
    const error = (await host.auth.login(CREDENTIALS).catch((thrown: unknown) => thrown)) as AuthError;
    expect(error).toMatchObject(REQUIRED);
    const ticket = error.loginTicket!;
    expect(JSON.stringify(error) + String(error) + inspect(error)).not.toContain(ticket);
    await right(host, ticket);
    await host.auth.openSession({ ticket });
  });

  it('is 400 with a wrong password, and the second factor is not asked', async () => {
    const { host } = at;
    await host.http
      .post('/auth/login')
      .send({ ...CREDENTIALS, password: 'wrong' })
      .expect(400, INVALID_CREDENTIALS);
    expect(enrolled.asked).toEqual([]);
    expect(await ticketsOf(host)).toBe(0);
  });

  it('asks with the user, without the hash, and with the client', async () => {
    const { host } = at;
    await host.http.post('/auth/login').set('User-Agent', 'browser').send(CREDENTIALS).expect(403);
    expect(enrolled.asked.map(({ user }) => user)).toEqual([{ id: await idOf(host), username: 'alice' }]);
    expect(enrolled.asked[0]!.client).toMatchObject({ userAgent: 'browser' });
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('out of order');
      },
    ],
    ['rejects', () => Promise.reject(new Error('out of order'))],
    ['returns undefined', () => undefined],
    ['returns a text', () => 'no'],
    ['returns null', () => Promise.resolve(null)],
  ])('is 503 and opens no session where the second factor %s, which is logged', async (_, answer) => {
    const { host } = at;
    enrolled.answer = answer;
    await host.http.post('/auth/login').send(CREDENTIALS).expect(503, { detail: 'The second factor does not answer.' });
    expect([await sessionsOf(host), await ticketsOf(host)]).toEqual([0, 0]);
    expect(host.logs.join('\n')).toMatch(
      /The second factor (failed in isRequired\(\): .*out of order|returned from isRequired\(\) (undefined|string|null)\. Return true or false\.)/,
    );
    enrolled.answer = null;
    // The slots of the attempt were returned.
    for (let i = 0; i < 12; i++) await host.http.post('/auth/login').send(CREDENTIALS).expect(403);
  });

  it('ends the failure streak of the password, as a login does', async () => {
    const { host } = at;
    const guess = () =>
      host.http
        .post('/auth/login')
        .send({ ...CREDENTIALS, password: 'wrong' })
        .expect(400);
    for (let i = 0; i < 9; i++) await guess();
    await host.http.post('/auth/login').send(CREDENTIALS).expect(403);
    for (let i = 0; i < 9; i++) await guess();
    await host.http.post('/auth/login').send(CREDENTIALS).expect(403);
  });

  it('does not hinder a user who needs none', async () => {
    const { host } = at;
    await host.login('bob');
    expect(await namesOf(host, 'bob')).toEqual(['login_success']);
  });
});

stories('verified credentials', { auth }, (at: Stage) => {
  it('return the user and a ticket, and record the first step', async () => {
    const { host } = at;
    const { user, ticket } = await host.auth.verifyCredentials(CREDENTIALS, CLIENT);
    expect(user).toEqual({ id: await idOf(host), username: 'alice' });
    expect(enrolled.asked).toEqual([]);
    const [event] = await host.auth.history(user.id);
    expect(event).toMatchObject({
      event: 'first_factor_success',
      ipAddress: CLIENT.ipAddress,
      userAgent: 'test',
      extra: {},
    });
    expect(await sessionsOf(host)).toBe(0);
    const { accessToken } = await host.auth.openSession({ ticket });
    expect(Object.keys((await host.auth.authenticate(accessToken))!.methods)).toEqual(['pwd']);
    expect(await ticketsOf(host)).toBe(0);
  });

  it('are throttled, counted and refused as a login is', async () => {
    const { host } = at;
    const verify = (password: string) => host.auth.verifyCredentials({ ...CREDENTIALS, password }, CLIENT);
    for (let i = 0; i < 5; i++) await expect(verify('wrong')).rejects.toMatchObject({ code: 'invalid_credentials' });
    for (let i = 0; i < 5; i++) {
      const login = host.auth.login({ ...CREDENTIALS, password: 'wrong' }, CLIENT);
      await expect(login).rejects.toMatchObject({ code: 'invalid_credentials' });
    }
    await expect(verify(PASSWORD)).rejects.toMatchObject({ code: 'too_many_attempts', retryAfterSeconds: 30 });
    host.clock.advance(30 * SECOND);
    await verify(PASSWORD);
    hasher.verified.length = 0;
    const unknown = host.auth.verifyCredentials({ username: 'nobody', password: PASSWORD }, CLIENT);
    await expect(unknown).rejects.toMatchObject({ code: 'invalid_credentials' });
    expect(hasher.verified).toHaveLength(1);
  });
});

stories('a login ticket', { auth }, (at: Stage) => {
  it('is stored as a digest, and expires to the millisecond after five minutes', async () => {
    const { host } = at;
    const [early, late] = [await ticketFor(host), await ticketFor(host)];
    expect(JSON.stringify(await host.dataSource.getRepository(AuthLoginTicket).find())).not.toContain(
      early.slice(5, 40),
    );
    host.clock.advance(5 * MINUTE - 1);
    await host.auth.openSession({ ticket: early });
    host.clock.advance(1);
    await expect(host.auth.openSession({ ticket: late })).rejects.toMatchObject(INVALID_TICKET);
    await expect(right(host, late)).rejects.toMatchObject(INVALID_TICKET);
  });

  it('opens one session: of parallel calls one wins, and a later one is refused', async () => {
    const { host } = at;
    const ticket = await ticketFor(host);
    const open = () =>
      host.auth.openSession({ ticket }).then(
        () => 'opened',
        (error: AuthError) => error.code,
      );
    const outcomes = await Promise.all(Array.from({ length: 8 }, open));
    expect(outcomes.sort()).toEqual([...Array<string>(7).fill('invalid_login_ticket'), 'opened']);
    expect(await open()).toBe('invalid_login_ticket');
    expect(await sessionsOf(host)).toBe(1);
    expect(await namesOf(host)).toEqual(['login_success', 'first_factor_success']);
  });

  it.each(['', 'nsal_', null, undefined, 7, {}, 'x'.repeat(55)])('is not %j', async (ticket) => {
    const { host } = at;
    await expect(host.auth.openSession({ ticket: ticket as never })).rejects.toMatchObject(INVALID_TICKET);
    const attempt = host.auth.attempt({ ticket: ticket as never, method: 'otp' }, CLIENT, () => true);
    await expect(attempt).rejects.toMatchObject(INVALID_TICKET);
  });

  it('is not a token of another kind, nor one that nobody was given', async () => {
    const { host } = at;
    const { token } = await host.auth.createPasswordResetToken(await idOf(host));
    const ticket = await ticketFor(host);
    const other = `${ticket.slice(0, 5)}${ticket[5] === 'A' ? 'B' : 'A'}${ticket.slice(6)}`;
    for (const text of [token, other, ticket.slice(0, -1), `${ticket} `, ticket.toUpperCase()]) {
      await expect(host.auth.openSession({ ticket: text })).rejects.toMatchObject(INVALID_TICKET);
    }
  });

  it('wins over an id beside it, as in the body of a request that is passed on', async () => {
    const { host } = at;
    const id = await idOf(host, 'bob');
    const body = { ticket: 'invalid', id };
    await expect(host.auth.openSession(body)).rejects.toMatchObject(INVALID_TICKET);
    const ticket = await ticketFor(host);
    const { accessToken } = await host.auth.openSession({ ticket, id });
    expect((await host.auth.authenticate(accessToken))!.userId).toBe(await idOf(host));
  });

  it('of a first step other than a password has the methods and data that it was created with', async () => {
    const { host } = at;
    enrolled.names.add('alice');
    const id = await idOf(host);
    const now = new Date(host.clock.now());
    const data = { tenant: 'example', roles: [] };
    const ticket = await host.auth.createLoginTicket({ id }, { methods: ['hwk'], data }, CLIENT);
    await expect(host.auth.openSession({ ticket })).rejects.toMatchObject(REQUIRED);
    await right(host, ticket, 'pin');
    const { accessToken } = await host.auth.openSession({ ticket });
    expect(await host.auth.authenticate(accessToken)).toMatchObject({ methods: { hwk: now, pin: now }, data });
    expect(await namesOf(host)).toEqual(['login_success', 'first_factor_success']);
  });

  it('is not created for nobody, a disabled user, without a method or for data that cannot be stored', async () => {
    const { host } = at;
    const id = await idOf(host);
    const unknown = { code: 'unknown_user' };
    await expect(host.auth.createLoginTicket('nobody', { methods: ['hwk'] })).rejects.toMatchObject(unknown);
    await setActive(host, 'alice', false);
    await expect(host.auth.createLoginTicket(id, { methods: ['hwk'] })).rejects.toMatchObject(unknown);
    await setActive(host, 'alice', true);
    await expect(host.auth.createLoginTicket(id, { methods: [] })).rejects.toThrow('methods is []');
    const date = { tenant: new Date() } as never;
    await expect(host.auth.createLoginTicket(id, { methods: ['hwk'], data: date })).rejects.toThrow('as JSON');
    const ticket = await host.auth.createLoginTicket(id, { methods: ['hwk'] });
    const opening = host.auth.openSession({ ticket }, {}, { methods: ['otp'] });
    await expect(opening).rejects.toThrow('A login ticket has its own methods and data');
    expect(await ticketsOf(host)).toBe(1);
  });

  it('is one of at most twenty of a user: a further one ends the oldest', async () => {
    const { host } = at;
    const id = await idOf(host);
    const tickets: string[] = [];
    const bobs = await host.auth.createLoginTicket(await idOf(host, 'bob'), { methods: ['hwk'] });
    for (let i = 0; i < 21; i++) {
      tickets.push(await host.auth.createLoginTicket(id, { methods: ['hwk'] }));
      host.clock.advance(SECOND);
    }
    expect(await ticketsOf(host)).toBe(21);
    await expect(host.auth.openSession({ ticket: tickets[0]! })).rejects.toMatchObject(INVALID_TICKET);
    for (const ticket of [tickets[1]!, tickets[20]!, bobs]) await host.auth.openSession({ ticket });
  });

  it('that has ended does not count, and is removed by the next one or by pruning', async () => {
    const { host } = at;
    const first = await ticketFor(host);
    for (let i = 0; i < 5; i++) await wrong(host, first);
    await ticketFor(host);
    expect(await ticketsOf(host)).toBe(1);
    host.clock.advance(5 * MINUTE - 1);
    expect(await host.pruning.prune()).toMatchObject({ loginTickets: 0 });
    host.clock.advance(1);
    expect(await host.pruning.prune({ dryRun: true })).toMatchObject({ loginTickets: 1 });
    expect(await host.pruning.prune()).toMatchObject({ loginTickets: 1 });
    expect(await ticketsOf(host)).toBe(0);
  });

  const endings: [string, (host: Host) => Promise<unknown>][] = [
    [
      'a password change',
      async (host) => {
        const principal = (await host.auth.authenticate((await host.auth.openSession(await idOf(host))).accessToken))!;
        await host.auth.changePassword(principal, { currentPassword: PASSWORD, newPassword: PASSWORD });
      },
    ],
    ['a password reset', async (host) => host.auth.resetPassword(await idOf(host), PASSWORD)],
    ['disabling the user', async (host) => host.auth.disableUser(await idOf(host))],
    [
      'a logout of all',
      async (host) => {
        const principal = (await host.auth.authenticate((await host.auth.openSession(await idOf(host))).accessToken))!;
        await host.auth.logoutAll(principal, { keepCurrent: true });
      },
    ],
    [
      'the reuse of a refresh token',
      async (host) => {
        const { refreshToken } = await host.auth.openSession(await idOf(host));
        await host.auth.refresh(refreshToken);
        await host.auth.refresh(refreshToken).catch(() => undefined);
      },
    ],
    [
      'an administrator who ends all sessions of the user',
      async (host) => {
        await host.auth.openSession(await idOf(host));
        await host.app.get(SessionAdministration).end({ userId: await idOf(host) }, { actor: 'admin' });
      },
    ],
    ['forgetting the user', async (host) => host.auth.forgetUser(await idOf(host))],
    [
      'an inactive account in the table of the application, for good',
      async (host) => {
        await setActive(host, 'alice', false);
        await expect(host.auth.attempt({ ticket: held, method: 'otp' }, CLIENT, () => true)).rejects.toMatchObject(
          INVALID_TICKET,
        );
      },
    ],
  ];
  let held = '';

  it.each(endings)('ends with %s', async (_, end) => {
    const { host } = at;
    held = await ticketFor(host);
    const bobs = await host.auth.createLoginTicket(await idOf(host, 'bob'), { methods: ['hwk'] });
    await end(host);
    await setActive(host, 'alice', true);
    await expect(host.auth.openSession({ ticket: held })).rejects.toMatchObject(INVALID_TICKET);
    await expect(right(host, held)).rejects.toMatchObject(INVALID_TICKET);
    await host.auth.openSession({ ticket: bobs });
    await restorePassword(host);
  });

  it('opens no session while its user is disabled in the table of the application', async () => {
    const { host } = at;
    const ticket = await ticketFor(host);
    await setActive(host, 'alice', false);
    await expect(host.auth.openSession({ ticket })).rejects.toMatchObject(INVALID_TICKET);
    await setActive(host, 'alice', true);
    await expect(host.auth.openSession({ ticket })).rejects.toMatchObject(INVALID_TICKET);
  });
});

stories(
  'a login ticket at the session limit',
  { auth: { ...auth, sessionPolicy: 'max_count', maxSessions: 1, onSessionLimit: 'reject' } },
  (at) => {
    it('is not consumed by a refusal', async () => {
      const { host } = at;
      const { access_token: token } = await host.login();
      const ticket = await ticketFor(host);
      const refused = { code: 'session_limit_reached' };
      for (let i = 0; i < 2; i++) await expect(host.auth.openSession({ ticket })).rejects.toMatchObject(refused);
      await host.auth.logout((await host.auth.authenticate(token))!);
      await host.auth.openSession({ ticket });
      await expect(host.auth.openSession({ ticket })).rejects.toMatchObject(INVALID_TICKET);
    });
  },
);

stories('an attempt with a login ticket', { auth }, (at: Stage) => {
  it('gives the check the user, and returns what it returns', async () => {
    const { host } = at;
    const ticket = await ticketFor(host);
    const check = jest.fn(({ username }: { username: string }) => username === 'bob');
    expect(await host.auth.attempt({ ticket, method: 'otp' }, CLIENT, check)).toBe(false);
    expect(check.mock.calls).toEqual([[{ id: await idOf(host), username: 'alice' }]]);
    expect(await right(host, ticket)).toBe(true);
    expect(host.sent('login_failed')).toEqual([
      { username: 'alice', userId: await idOf(host), ipAddress: CLIENT.ipAddress, failureCount: 1 },
    ]);
    const [failure] = await host.auth.history(await idOf(host));
    expect(failure).toMatchObject({ event: 'login_failure', extra: { username: 'alice', failure_count: 1 } });
  });

  it('does not consume the ticket, whose fifth failure ends it', async () => {
    const { host } = at;
    const ticket = await ticketFor(host);
    for (let i = 0; i < 4; i++) {
      expect(await wrong(host, ticket)).toBe(false);
      // A success is no failure.
      expect(await right(host, ticket)).toBe(true);
    }
    expect(await wrong(host, ticket)).toBe(false);
    await expect(right(host, ticket)).rejects.toMatchObject(INVALID_TICKET);
    await expect(host.auth.openSession({ ticket })).rejects.toMatchObject(INVALID_TICKET);
  });

  it('is one of at most five failures, in parallel too', async () => {
    const { host } = at;
    const ticket = await ticketFor(host);
    let checks = 0;
    const attempts = Array.from({ length: 12 }, () =>
      host.auth
        .attempt({ ticket, method: 'otp' }, CLIENT, () => {
          checks++;
          return false;
        })
        .catch((error: AuthError) => error.code),
    );
    const outcomes = await Promise.all(attempts);
    expect(checks).toBe(5);
    expect(outcomes.filter((outcome) => outcome === false)).toHaveLength(5);
    await expect(right(host, ticket)).rejects.toMatchObject(INVALID_TICKET);
  });

  it('is throttled for the user and method over many tickets, without a check, and over many networks', async () => {
    const { host } = at;
    let checks = 0;
    const guess = async (client: ClientInfo): Promise<unknown> => {
      const ticket = await host.auth.createLoginTicket(await idOf(host), { methods: ['hwk'] });
      return host.auth
        .attempt({ ticket, method: 'otp' }, client, () => {
          checks++;
          return false;
        })
        .catch((error: AuthError) => error.code);
    };
    for (let i = 0; i < 10; i++) expect(await guess(CLIENT)).toBe(false);
    expect(await guess(CLIENT)).toBe('too_many_attempts');
    expect(checks).toBe(10);
    expect(host.sent('login_blocked')).toMatchObject([{ username: 'alice', scope: 'network' }]);
    for (let i = 0; i < 90; i++) expect(await guess({ ipAddress: `198.51.100.${i + 1}` })).toBe(false);
    expect(await guess({ ipAddress: '192.0.2.1' })).toBe('too_many_attempts');
    expect(checks).toBe(100);
    expect(host.sent('login_blocked')).toMatchObject([{}, { scope: 'account' }]);
  });

  it('counts for its method alone: neither a password, nor another method, nor a reset of the password ends the streak', async () => {
    const { host } = at;
    const guess = async (client = CLIENT, method = 'otp') => wrong(host, await ticketFor(host), client, method);
    for (let i = 0; i < 9; i++) await guess();
    await right(host, await ticketFor(host), 'recovery');
    await host.auth.resetPassword(await idOf(host), PASSWORD);
    await guess();
    const blocked = { code: 'too_many_attempts' };
    await expect(guess()).rejects.toMatchObject(blocked);
    await host.auth.login(CREDENTIALS, CLIENT);
    expect(await guess(CLIENT, 'recovery')).toBe(false);
    host.clock.advance(30 * SECOND);
    await right(host, await ticketFor(host));
    for (let i = 0; i < 9; i++) expect(await guess()).toBe(false);
  });

  it('does not end a failure streak of passwords, and a reset of failed logins ends all streaks', async () => {
    const { host } = at;
    const client = { ...CLIENT, ipAddress: '203.0.113.8' };
    const ticket = await ticketFor(host);
    for (let i = 0; i < 10; i++)
      await host.auth.login({ ...CREDENTIALS, password: 'wrong' }, client).catch(() => undefined);
    await host.auth.attempt({ ticket, method: 'otp' }, client, () => true);
    await expect(host.auth.login(CREDENTIALS, client)).rejects.toMatchObject({ code: 'too_many_attempts' });
    await wrong(host, ticket);
    await host.auth.resetFailedLogins('alice');
    expect(await host.dataSource.getRepository(AuthLoginFailure).count()).toBe(0);
    await host.auth.login(CREDENTIALS, client);
  });

  it('at `pwd` counts as a login by password', async () => {
    const { host } = at;
    for (let i = 0; i < 2; i++) {
      const ticket = await host.auth.createLoginTicket(await idOf(host), { methods: ['hwk'] });
      for (let j = 0; j < 5; j++) await wrong(host, ticket, CLIENT, 'pwd');
    }
    await expect(host.auth.login(CREDENTIALS, CLIENT)).rejects.toMatchObject({ code: 'too_many_attempts' });
  });

  it('whose check throws, or returns no boolean, adds no method and counts in the ticket alone', async () => {
    const { host } = at;
    const ticket = await ticketFor(host);
    const attempt = (check: () => unknown) => host.auth.attempt({ ticket, method: 'otp' }, CLIENT, check as never);
    const failure = new Error('no connection');
    await expect(
      attempt(() => {
        throw failure;
      }),
    ).rejects.toBe(failure);
    await expect(attempt(() => Promise.reject(failure))).rejects.toBe(failure);
    for (const result of [undefined, 1, 'true']) {
      await expect(attempt(() => result)).rejects.toThrow(
        /The check of attempt\(\) returned \w+; return true or false\./,
      );
    }
    await expect(attempt(() => true)).rejects.toMatchObject(INVALID_TICKET);
    expect(host.sent('login_failed')).toEqual([]);
    await right(host, await ticketFor(host));
  });

  it('does not open a session by the first method proved again', async () => {
    const { host } = at;
    enrolled.names.add('alice');
    const ticket = await ticketFor(host);
    await right(host, ticket, 'pwd');
    await expect(host.auth.openSession({ ticket })).rejects.toMatchObject(REQUIRED);
  });

  it('with the ticket of another user does not help', async () => {
    const { host } = at;
    enrolled.names.add('alice').add('bob');
    const ticket = await ticketFor(host);
    const bobs = (await host.auth.verifyCredentials({ username: 'bob', password: PASSWORD })).ticket;
    await right(host, bobs);
    await expect(host.auth.openSession({ ticket })).rejects.toMatchObject(REQUIRED);
    const { accessToken } = await host.auth.openSession({ ticket: bobs });
    expect((await host.auth.authenticate(accessToken))!.userId).toBe(await idOf(host, 'bob'));
  });

  it('asks again at the opening: a second factor that was enabled since the first step is required', async () => {
    const { host } = at;
    const ticket = await ticketFor(host);
    enrolled.names.add('alice');
    await expect(host.auth.openSession({ ticket })).rejects.toMatchObject(REQUIRED);
  });
});

stories('an attempt within a session', { auth: { ...auth, recentLogin: { endpoint: true } } }, (at: Stage) => {
  const attempt = async (host: Host, token: string, isRight: boolean) =>
    host.auth.attempt({ principal: (await host.auth.authenticate(token))!, method: 'otp' }, CLIENT, () => isRight);

  it('adds the method to the session', async () => {
    const { host } = at;
    const { access_token: token } = await host.login();
    const start = new Date(host.clock.now());
    host.clock.advance(MINUTE);
    expect(await attempt(host, token, true)).toBe(true);
    const now = new Date(host.clock.now());
    expect((await host.auth.authenticate(token))!.methods).toEqual({ pwd: start, otp: now });
    expect((await host.auth.authenticate(token))!.authenticatedAt).toEqual(start);
  });

  it('counts in the row of the session, with the delays, beside passwords; the hundredth failure ends the session', async () => {
    const { host } = at;
    const { access_token: token, session_id: id } = await host.login();
    for (let i = 0; i < 5; i++) expect(await attempt(host, token, false)).toBe(false);
    for (let i = 0; i < 5; i++) await host.post('/auth/reauthenticate', token, { password: 'wrong' }).expect(400);
    await expect(attempt(host, token, true)).rejects.toMatchObject({
      code: 'too_many_attempts',
      retryAfterSeconds: 30,
    });
    expect(host.sent('brute_force_threshold_hit')).toMatchObject([{ scope: 'session' }]);
    await host.login();
    host.clock.advance(30 * SECOND);
    await attempt(host, token, true);
    await host.dataSource.getRepository(AuthSession).update({ id }, { failureCount: 99 });
    expect(await attempt(host, token, false)).toBe(false);
    await host.get('/me', token).expect(401);
    expect(host.sent('user_logged_out')).toMatchObject([{ reason: 'failed_reauthentication' }]);
  });

  it('is 401 where the access token is not live any more', async () => {
    const { host } = at;
    const { access_token: token, refresh_token: refreshToken } = await host.login();
    const principal = (await host.auth.authenticate(token))!;
    const check = async (): Promise<boolean> => {
      await host.refresh(refreshToken).expect(200);
      return true;
    };
    const late = host.auth.attempt({ principal, method: 'otp' }, CLIENT, check);
    await expect(late).rejects.toMatchObject({ code: 'access_token_invalid' });
    const made = { ...principal, methods: {}, data: {} };
    const attempted = host.auth.attempt({ principal: made, method: 'otp' }, CLIENT, () => true);
    await expect(attempted).rejects.toMatchObject({ code: 'access_token_invalid' });
  });

  it('needs the name of a method', async () => {
    const { host } = at;
    const attempted = host.auth.attempt({ ticket: '', method: 'OTP' }, CLIENT, () => true);
    await expect(attempted).rejects.toThrow('methods is ["OTP"]');
  });
});

stories(
  'no endpoint gives a session to a user who needs a second factor by one',
  { auth: { ...auth, recentLogin: { endpoint: true } } },
  (at) => {
    it('neither by a login, a refresh, a reset, a change nor a reauthentication', async () => {
      const { host } = at;
      enrolled.names.add('alice');
      const ticket = await ticketFor(host);
      await host.refresh(ticket).expect(400);
      for (const path of ['/me', '/auth/sessions', '/auth/history']) await host.get(path, ticket).expect(401);
      for (const path of ['reauthenticate', 'password/change', 'logout', 'logout/all']) {
        await host
          .post(`/auth/${path}`, ticket, { password: PASSWORD, current_password: PASSWORD, new_password: PASSWORD })
          .expect(401);
      }
      const { token } = await host.auth.createPasswordResetToken(await idOf(host));
      await host.auth.redeemPasswordResetToken(token, PASSWORD);
      await host.http.post('/auth/login').send(CREDENTIALS).expect(403);
      await expect(host.auth.openSession({ ticket })).rejects.toMatchObject(INVALID_TICKET);
      expect(await sessionsOf(host)).toBe(0);
    });
  },
);
