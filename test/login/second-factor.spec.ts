import {
  AuthError,
  AuthLoginFailure,
  AuthLoginTicket,
  AuthSession,
  SecondFactor,
  SessionAdministration,
  VerificationUnavailable,
  type AuthModuleOptions,
  type ClientInfo,
} from 'nestjs-session-auth';
import { inspect } from 'node:util';
import { CountingHasher } from '../support/counting-hasher';
import { MINUTE, SECOND } from '../support/driven-clock';
import { PASSWORD, type TestApplication } from '../support/test-application';
import {
  INVALID_CREDENTIALS,
  restorePassword,
  setActive,
  describeOnEachDatabase,
  type TestEnvironment,
} from '../support/environment';

/** Requires a second factor from the users in `names`. */
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

const idOf = async (app: TestApplication, username = 'alice'): Promise<string> => {
  const [row] = await app.dataSource.query(`SELECT id FROM auth_users WHERE username = '${username}'`);
  return row.id;
};
const namesOf = async (app: TestApplication, username = 'alice'): Promise<string[]> =>
  (await app.auth.history(await idOf(app, username))).map(({ event }) => event);
const ticketsOf = (app: TestApplication): Promise<number> => app.dataSource.getRepository(AuthLoginTicket).count();
const sessionsOf = (app: TestApplication): Promise<number> => app.dataSource.getRepository(AuthSession).count();
const ticketFor = async (app: TestApplication): Promise<string> =>
  (await app.auth.verifyCredentials(CREDENTIALS)).ticket;
const right = (app: TestApplication, ticket: string, method = 'otp'): Promise<boolean> =>
  app.auth.attempt({ ticket, method }, CLIENT, () => true);
const wrong = (app: TestApplication, ticket: string, client = CLIENT, method = 'otp'): Promise<boolean> =>
  app.auth.attempt({ ticket, method }, client, () => false);

beforeEach(() => {
  enrolled.names.clear();
  enrolled.asked.length = 0;
  enrolled.answer = null;
});

describeOnEachDatabase('logins of users who need a second factor', { auth }, (env: TestEnvironment) => {
  beforeEach(() => void enrolled.names.add('alice'));

  it.each([{ method: 'otp' }, { method: 'otp', principal: undefined }, { method: 'otp', principal: null }, undefined])(
    'attempt() cannot be called without a login ticket or a principal: %j',
    async (target) => {
      const attempt = env.app.auth.attempt(target as never, CLIENT, () => true);
      await expect(attempt).rejects.toThrow('Pass attempt() a login ticket or a principal.');
    },
  );

  it('a login that needs a second factor fails with 403 and a login ticket, which opens a session after the second factor', async () => {
    const { app } = env;
    const { body, headers } = await app.http.post('/auth/login/').send(CREDENTIALS).expect(403);
    expect(headers['cache-control']).toBe('no-store');
    expect(body).toEqual({
      detail: 'A second factor is required.',
      code: 'second_factor_required',
      login_ticket: expect.stringMatching(/^nsal_[\w-]{44}\w{6}$/),
    });
    expect(await sessionsOf(app)).toBe(0);
    expect(await namesOf(app)).toEqual(['first_factor_success']);
    expect(app.signals).toEqual([]);
    const start = new Date(app.clock.now());
    app.clock.advance(MINUTE);
    const ticket = body.login_ticket as string;
    await expect(app.auth.openSession({ ticket })).rejects.toMatchObject(REQUIRED);
    expect(await right(app, ticket)).toBe(true);
    const { accessToken } = await app.auth.openSession({ ticket }, CLIENT);
    const principal = (await app.auth.authenticate(accessToken))!;
    expect(principal.methods).toEqual({ pwd: start, otp: new Date(app.clock.now()) });
    expect(await namesOf(app)).toEqual(['login_success', 'first_factor_success']);
    expect(app.sent('user_logged_in')).toHaveLength(1);
  });

  it('AuthService.login() rejects with the login ticket, and no log of the error contains the ticket', async () => {
    const { app } = env;
    const error = (await app.auth.login(CREDENTIALS).catch((thrown: unknown) => thrown)) as AuthError;
    expect(error).toMatchObject(REQUIRED);
    const ticket = error.loginTicket!;
    expect(JSON.stringify(error) + String(error) + inspect(error)).not.toContain(ticket);
    await right(app, ticket);
    await app.auth.openSession({ ticket });
  });

  it('a login with a wrong password fails with 400, and the SecondFactor is not called', async () => {
    const { app } = env;
    await app.http
      .post('/auth/login')
      .send({ ...CREDENTIALS, password: 'wrong' })
      .expect(400, INVALID_CREDENTIALS);
    expect(enrolled.asked).toEqual([]);
    expect(await ticketsOf(app)).toBe(0);
  });

  it('the SecondFactor receives the user without the hash, and the client', async () => {
    const { app } = env;
    await app.http.post('/auth/login').set('User-Agent', 'browser').send(CREDENTIALS).expect(403);
    expect(enrolled.asked.map(({ user }) => user)).toEqual([{ id: await idOf(app), username: 'alice' }]);
    expect(enrolled.asked[0]!.client).toMatchObject({ userAgent: 'browser' });
  });

  it('the SecondFactor receives the same client object that the application passes', async () => {
    const { app } = env;
    const client = { ...CLIENT, deviceToken: 'trusted' };
    const { loginTicket } = (await app.auth.login(CREDENTIALS, client).catch((thrown: unknown) => thrown)) as AuthError;
    await expect(app.auth.openSession({ ticket: loginTicket! }, client)).rejects.toMatchObject(REQUIRED);
    expect(enrolled.asked.map((asked) => asked.client === client)).toEqual([true, true]);
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
    ['returns a string', () => 'no'],
    ['returns null', () => Promise.resolve(null)],
  ])(
    'a login fails with 503 and opens no session if the SecondFactor %s, and the failure is logged',
    async (_, answer) => {
      const { app } = env;
      enrolled.answer = answer;
      await app.http.post('/auth/login').send(CREDENTIALS).expect(503, { detail: 'The second factor is unavailable.' });
      expect([await sessionsOf(app), await ticketsOf(app)]).toEqual([0, 0]);
      expect(app.logs.join('\n')).toMatch(
        /The second factor failed in isRequired\(\): .*out of order|isRequired\(\) of the second factor returned (undefined|a string|null)\. Return true or false\./,
      );
      enrolled.answer = null;
      // The attempt was not counted.
      for (let i = 0; i < 12; i++) await app.http.post('/auth/login').send(CREDENTIALS).expect(403);
    },
  );

  it('a right password ends its failure streak although a second factor follows', async () => {
    const { app } = env;
    const guess = () =>
      app.http
        .post('/auth/login')
        .send({ ...CREDENTIALS, password: 'wrong' })
        .expect(400);
    for (let i = 0; i < 9; i++) await guess();
    await app.http.post('/auth/login').send(CREDENTIALS).expect(403);
    for (let i = 0; i < 9; i++) await guess();
    await app.http.post('/auth/login').send(CREDENTIALS).expect(403);
  });

  it.each([
    ['a logout of all others', true],
    ['a logout of all others', false],
    ['an end by an administrator', true],
    ['an end by an administrator', false],
  ])(
    'a login during %s checks twice whether a second factor is required, and counts no failure (required the second time: %s)',
    async (by, isEnabled) => {
      const { app } = env;
      enrolled.names.clear();
      const alice = await idOf(app);
      const { accessToken } = await app.auth.openSession(alice);
      const principal = (await app.auth.authenticate(accessToken))!;
      const isByUser = by === 'a logout of all others';
      const endSessions = (): Promise<unknown> =>
        isByUser
          ? app.auth.logoutAll(principal, { keepCurrent: true })
          : app.nest.get(SessionAdministration).end({ userId: alice }, { actor: 'carol' });
      enrolled.answer = async (required) => {
        enrolled.answer = null;
        if (isEnabled) enrolled.names.add('alice');
        await endSessions();
        return required;
      };
      const code = await app.auth.login(CREDENTIALS).then(
        () => 'opened',
        (error: AuthError) => error.code,
      );
      expect(code).toBe(isEnabled ? 'second_factor_required' : 'opened');
      expect(enrolled.asked).toHaveLength(2);
      expect(await namesOf(app)).not.toContain('login_failure');
      expect(await app.auth.listSessions(alice)).toHaveLength((isByUser ? 1 : 0) + (isEnabled ? 0 : 1));
    },
  );

  it('a user without a second factor logs in as usual', async () => {
    const { app } = env;
    await app.login('bob');
    expect(await namesOf(app, 'bob')).toEqual(['login_success']);
  });
});

describeOnEachDatabase('verifyCredentials', { auth }, (env: TestEnvironment) => {
  it('verifyCredentials returns the user and a ticket, and records the first step', async () => {
    const { app } = env;
    const { user, ticket } = await app.auth.verifyCredentials(CREDENTIALS, CLIENT);
    expect(user).toEqual({ id: await idOf(app), username: 'alice' });
    expect(enrolled.asked).toEqual([]);
    const [event] = await app.auth.history(user.id);
    expect(event).toMatchObject({
      event: 'first_factor_success',
      ipAddress: CLIENT.ipAddress,
      userAgent: 'test',
      extra: {},
    });
    expect(await sessionsOf(app)).toBe(0);
    const { accessToken } = await app.auth.openSession({ ticket });
    expect(Object.keys((await app.auth.authenticate(accessToken))!.methods)).toEqual(['pwd']);
    expect(await ticketsOf(app)).toBe(0);
  });

  it('verifyCredentials is throttled, counted and refused like a login', async () => {
    const { app } = env;
    const verify = (password: string) => app.auth.verifyCredentials({ ...CREDENTIALS, password }, CLIENT);
    for (let i = 0; i < 5; i++) await expect(verify('wrong')).rejects.toMatchObject({ code: 'invalid_credentials' });
    for (let i = 0; i < 5; i++) {
      const login = app.auth.login({ ...CREDENTIALS, password: 'wrong' }, CLIENT);
      await expect(login).rejects.toMatchObject({ code: 'invalid_credentials' });
    }
    await expect(verify(PASSWORD)).rejects.toMatchObject({ code: 'too_many_attempts', retryAfterSeconds: 30 });
    app.clock.advance(30 * SECOND);
    await verify(PASSWORD);
    hasher.verified.length = 0;
    const unknown = app.auth.verifyCredentials({ username: 'nobody', password: PASSWORD }, CLIENT);
    await expect(unknown).rejects.toMatchObject({ code: 'invalid_credentials' });
    expect(hasher.verified).toHaveLength(1);
  });
});

describeOnEachDatabase('login tickets', { auth }, (env: TestEnvironment) => {
  it('a login ticket is stored as a digest, and expires to the millisecond after five minutes', async () => {
    const { app } = env;
    const [early, late] = [await ticketFor(app), await ticketFor(app)];
    expect(JSON.stringify(await app.dataSource.getRepository(AuthLoginTicket).find())).not.toContain(
      early.slice(5, 40),
    );
    app.clock.advance(5 * MINUTE - 1);
    await app.auth.openSession({ ticket: early });
    app.clock.advance(1);
    await expect(app.auth.openSession({ ticket: late })).rejects.toMatchObject(INVALID_TICKET);
    await expect(right(app, late)).rejects.toMatchObject(INVALID_TICKET);
  });

  it('a login ticket opens one session, also when it is presented in parallel', async () => {
    const { app } = env;
    const ticket = await ticketFor(app);
    const open = () =>
      app.auth.openSession({ ticket }).then(
        () => 'opened',
        (error: AuthError) => error.code,
      );
    const outcomes = await Promise.all(Array.from({ length: 8 }, open));
    expect(outcomes.sort()).toEqual([...Array<string>(7).fill('invalid_login_ticket'), 'opened']);
    expect(await open()).toBe('invalid_login_ticket');
    expect(await sessionsOf(app)).toBe(1);
    expect(await namesOf(app)).toEqual(['login_success', 'first_factor_success']);
  });

  it.each(['', 'nsal_', null, undefined, 7, {}, 'x'.repeat(55)])(
    'the value %j is refused as a login ticket',
    async (ticket) => {
      const { app } = env;
      await expect(app.auth.openSession({ ticket: ticket as never })).rejects.toMatchObject(INVALID_TICKET);
      const attempt = app.auth.attempt({ ticket: ticket as never, method: 'otp' }, CLIENT, () => true);
      await expect(attempt).rejects.toMatchObject(INVALID_TICKET);
    },
  );

  it('a token of another kind and an unknown ticket are refused as login tickets', async () => {
    const { app } = env;
    const { token } = await app.auth.createPasswordResetToken(await idOf(app));
    const ticket = await ticketFor(app);
    const other = `${ticket.slice(0, 5)}${ticket[5] === 'A' ? 'B' : 'A'}${ticket.slice(6)}`;
    for (const text of [token, other, ticket.slice(0, -1), `${ticket} `, ticket.toUpperCase()]) {
      await expect(app.auth.openSession({ ticket: text })).rejects.toMatchObject(INVALID_TICKET);
    }
  });

  it('a ticket takes precedence over an id in the same object, such as a forwarded request body', async () => {
    const { app } = env;
    const id = await idOf(app, 'bob');
    const body = { ticket: 'invalid', id };
    await expect(app.auth.openSession(body)).rejects.toMatchObject(INVALID_TICKET);
    const ticket = await ticketFor(app);
    const { accessToken } = await app.auth.openSession({ ticket, id });
    expect((await app.auth.authenticate(accessToken))!.userId).toBe(await idOf(app));
  });

  it('a ticket of a first step other than a password has the methods and data with which it was created', async () => {
    const { app } = env;
    enrolled.names.add('alice');
    const id = await idOf(app);
    const now = new Date(app.clock.now());
    const data = { tenant: 'example', roles: [] };
    const ticket = await app.auth.createLoginTicket({ id }, { methods: ['hwk'], data }, CLIENT);
    await expect(app.auth.openSession({ ticket })).rejects.toMatchObject(REQUIRED);
    await right(app, ticket, 'pin');
    const { accessToken } = await app.auth.openSession({ ticket });
    expect(await app.auth.authenticate(accessToken)).toMatchObject({ methods: { hwk: now, pin: now }, data });
    expect(await namesOf(app)).toEqual(['login_success', 'first_factor_success']);
  });

  it('no login ticket is created for an unknown or disabled user, without a method, or for data that cannot be stored', async () => {
    const { app } = env;
    const id = await idOf(app);
    const unknown = { code: 'unknown_user' };
    await expect(app.auth.createLoginTicket('nobody', { methods: ['hwk'] })).rejects.toMatchObject(unknown);
    await setActive(app, 'alice', false);
    await expect(app.auth.createLoginTicket(id, { methods: ['hwk'] })).rejects.toMatchObject(unknown);
    await setActive(app, 'alice', true);
    await expect(app.auth.createLoginTicket(id, { methods: [] })).rejects.toThrow('methods is []');
    const date = { tenant: new Date() } as never;
    await expect(app.auth.createLoginTicket(id, { methods: ['hwk'], data: date })).rejects.toThrow('as JSON');
    const ticket = await app.auth.createLoginTicket(id, { methods: ['hwk'] });
    const opening = app.auth.openSession({ ticket }, {}, { methods: ['otp'] });
    await expect(opening).rejects.toThrow('openSession() received a login ticket together with methods or data');
    expect(await ticketsOf(app)).toBe(1);
  });

  it('a user has at most twenty login tickets, and a further ticket from one network ends the oldest', async () => {
    const { app } = env;
    const id = await idOf(app);
    const tickets: string[] = [];
    const bobs = await app.auth.createLoginTicket(await idOf(app, 'bob'), { methods: ['hwk'] });
    for (let i = 0; i < 21; i++) {
      tickets.push(await app.auth.createLoginTicket(id, { methods: ['hwk'] }));
      app.clock.advance(SECOND);
    }
    expect(await ticketsOf(app)).toBe(21);
    await expect(app.auth.openSession({ ticket: tickets[0]! })).rejects.toMatchObject(INVALID_TICKET);
    for (const ticket of [tickets[1]!, tickets[20]!, bobs]) await app.auth.openSession({ ticket });
  });

  it('logins with the right password from another network do not end the login ticket of the user', async () => {
    const { app } = env;
    const { ticket: owners } = await app.auth.verifyCredentials(CREDENTIALS, CLIENT);
    const thiefs: string[] = [];
    for (let i = 0; i < 20; i++) {
      app.clock.advance(SECOND);
      // The addresses of one /64 are one network.
      thiefs.push((await app.auth.verifyCredentials(CREDENTIALS, { ipAddress: `2001:db8::${i}` })).ticket);
    }
    expect(await ticketsOf(app)).toBe(20);
    await expect(right(app, thiefs[0]!)).rejects.toMatchObject(INVALID_TICKET);
    for (const ticket of [owners, thiefs[1]!, thiefs[19]!]) expect(await right(app, ticket)).toBe(true);
    await app.auth.openSession({ ticket: owners }, CLIENT);
  });

  it('a login ticket with five failures is deleted by the next ticket, and an expired one by pruning', async () => {
    const { app } = env;
    const first = await ticketFor(app);
    for (let i = 0; i < 5; i++) await wrong(app, first);
    await ticketFor(app);
    expect(await ticketsOf(app)).toBe(1);
    app.clock.advance(5 * MINUTE - 1);
    expect(await app.pruning.prune()).toMatchObject({ loginTickets: 0 });
    app.clock.advance(1);
    expect(await app.pruning.prune({ dryRun: true })).toMatchObject({ loginTickets: 1 });
    expect(await app.pruning.prune()).toMatchObject({ loginTickets: 1 });
    expect(await ticketsOf(app)).toBe(0);
  });

  const endings: [string, (app: TestApplication) => Promise<unknown>][] = [
    [
      'a password change',
      async (app) => {
        const principal = (await app.auth.authenticate((await app.auth.openSession(await idOf(app))).accessToken))!;
        await app.auth.changePassword(principal, { currentPassword: PASSWORD, newPassword: PASSWORD });
      },
    ],
    ['a password reset', async (app) => app.auth.resetPassword(await idOf(app), PASSWORD)],
    ['disabling the user', async (app) => app.auth.disableUser(await idOf(app))],
    [
      'a logout of all other sessions',
      async (app) => {
        const principal = (await app.auth.authenticate((await app.auth.openSession(await idOf(app))).accessToken))!;
        await app.auth.logoutAll(principal, { keepCurrent: true });
      },
    ],
    [
      'the reuse of a refresh token',
      async (app) => {
        const { refreshToken } = await app.auth.openSession(await idOf(app));
        await app.auth.refresh(refreshToken);
        await app.auth.refresh(refreshToken).catch(() => undefined);
      },
    ],
    [
      'an administrator who ends all sessions of the user',
      async (app) => {
        await app.auth.openSession(await idOf(app));
        await app.nest.get(SessionAdministration).end({ userId: await idOf(app) }, { actor: 'admin' });
      },
    ],
    ['forgetting the user', async (app) => app.auth.forgetUser(await idOf(app))],
    [
      'an attempt while the user is inactive in the table of the application',
      async (app) => {
        await setActive(app, 'alice', false);
        await expect(app.auth.attempt({ ticket: held, method: 'otp' }, CLIENT, () => true)).rejects.toMatchObject(
          INVALID_TICKET,
        );
      },
    ],
  ];
  let held = '';

  it.each(endings)('a login ticket ends with %s', async (_, end) => {
    const { app } = env;
    held = await ticketFor(app);
    const bobs = await app.auth.createLoginTicket(await idOf(app, 'bob'), { methods: ['hwk'] });
    await end(app);
    await setActive(app, 'alice', true);
    await expect(app.auth.openSession({ ticket: held })).rejects.toMatchObject(INVALID_TICKET);
    await expect(right(app, held)).rejects.toMatchObject(INVALID_TICKET);
    await app.auth.openSession({ ticket: bobs });
    await restorePassword(app);
  });

  it('a login ticket ends if it is presented while its user is disabled in the table of the application', async () => {
    const { app } = env;
    const ticket = await ticketFor(app);
    await setActive(app, 'alice', false);
    await expect(app.auth.openSession({ ticket })).rejects.toMatchObject(INVALID_TICKET);
    await setActive(app, 'alice', true);
    await expect(app.auth.openSession({ ticket })).rejects.toMatchObject(INVALID_TICKET);
  });
});

describeOnEachDatabase(
  'login tickets at the session limit',
  { auth: { ...auth, sessionPolicy: 'max_count', maxSessions: 1, onSessionLimit: 'reject' } },
  (env) => {
    it('a login ticket is not consumed by a refusal at the session limit', async () => {
      const { app } = env;
      const { access_token: token } = await app.login();
      const ticket = await ticketFor(app);
      const refused = { code: 'session_limit_reached' };
      for (let i = 0; i < 2; i++) await expect(app.auth.openSession({ ticket })).rejects.toMatchObject(refused);
      await app.auth.logout((await app.auth.authenticate(token))!);
      await app.auth.openSession({ ticket });
      await expect(app.auth.openSession({ ticket })).rejects.toMatchObject(INVALID_TICKET);
    });
  },
);

describeOnEachDatabase('attempts with login tickets', { auth }, (env: TestEnvironment) => {
  it('an attempt passes the user to the check, and returns its result', async () => {
    const { app } = env;
    const ticket = await ticketFor(app);
    const check = jest.fn(({ username }: { username: string }) => username === 'bob');
    expect(await app.auth.attempt({ ticket, method: 'otp' }, CLIENT, check)).toBe(false);
    expect(check.mock.calls).toEqual([[{ id: await idOf(app), username: 'alice' }]]);
    expect(await right(app, ticket)).toBe(true);
    expect(app.sent('login_failed')).toEqual([
      { username: 'alice', userId: await idOf(app), ipAddress: CLIENT.ipAddress, failureCount: 1 },
    ]);
    const [failure] = await app.auth.history(await idOf(app));
    expect(failure).toMatchObject({ event: 'login_failure', extra: { username: 'alice', failure_count: 1 } });
  });

  it('an attempt does not consume the ticket, and the fifth failure ends the ticket', async () => {
    const { app } = env;
    const ticket = await ticketFor(app);
    for (let i = 0; i < 4; i++) {
      expect(await wrong(app, ticket)).toBe(false);
      // A success does not count as a failure.
      expect(await right(app, ticket)).toBe(true);
    }
    expect(await wrong(app, ticket)).toBe(false);
    await expect(right(app, ticket)).rejects.toMatchObject(INVALID_TICKET);
    await expect(app.auth.openSession({ ticket })).rejects.toMatchObject(INVALID_TICKET);
  });

  it('a login ticket allows at most five failures, also in parallel', async () => {
    const { app } = env;
    const ticket = await ticketFor(app);
    let checks = 0;
    const attempts = Array.from({ length: 12 }, () =>
      app.auth
        .attempt({ ticket, method: 'otp' }, CLIENT, () => {
          checks++;
          return false;
        })
        .catch((error: AuthError) => error.code),
    );
    const outcomes = await Promise.all(attempts);
    expect(checks).toBe(5);
    expect(outcomes.filter((outcome) => outcome === false)).toHaveLength(5);
    await expect(right(app, ticket)).rejects.toMatchObject(INVALID_TICKET);
  });

  it('attempts are throttled per user and method across tickets and networks, without calling the check', async () => {
    const { app } = env;
    let checks = 0;
    const guess = async (client: ClientInfo): Promise<unknown> => {
      const ticket = await app.auth.createLoginTicket(await idOf(app), { methods: ['hwk'] });
      return app.auth
        .attempt({ ticket, method: 'otp' }, client, () => {
          checks++;
          return false;
        })
        .catch((error: AuthError) => error.code);
    };
    for (let i = 0; i < 10; i++) expect(await guess(CLIENT)).toBe(false);
    expect(await guess(CLIENT)).toBe('too_many_attempts');
    expect(checks).toBe(10);
    expect(app.sent('login_blocked')).toMatchObject([{ username: 'alice', scope: 'network' }]);
    const bobs = await app.auth.createLoginTicket(await idOf(app, 'bob'), { methods: ['hwk'] });
    expect(await wrong(app, bobs)).toBe(false);
    expect(await wrong(app, await ticketFor(app), CLIENT, 'recovery')).toBe(false);
    for (let i = 0; i < 90; i++) expect(await guess({ ipAddress: `198.51.100.${i + 1}` })).toBe(false);
    expect(await guess({ ipAddress: '192.0.2.1' })).toBe('too_many_attempts');
    expect(checks).toBe(100);
    expect(app.sent('login_blocked')).toMatchObject([{}, { scope: 'account' }]);
  });

  it('a failure streak of a method does not affect passwords or other methods, and no password reset ends it', async () => {
    const { app } = env;
    const guess = async (client = CLIENT, method = 'otp') => wrong(app, await ticketFor(app), client, method);
    for (let i = 0; i < 9; i++) await guess();
    await right(app, await ticketFor(app), 'recovery');
    await app.auth.resetPassword(await idOf(app), PASSWORD);
    await guess();
    const blocked = { code: 'too_many_attempts' };
    await expect(guess()).rejects.toMatchObject(blocked);
    await app.auth.login(CREDENTIALS, CLIENT);
    expect(await guess(CLIENT, 'recovery')).toBe(false);
    app.clock.advance(30 * SECOND);
    await right(app, await ticketFor(app));
    for (let i = 0; i < 9; i++) expect(await guess()).toBe(false);
  });

  it('proving a method does not end a failure streak of passwords, and resetFailedLogins() ends all streaks', async () => {
    const { app } = env;
    const client = { ...CLIENT, ipAddress: '203.0.113.8' };
    const ticket = await ticketFor(app);
    for (let i = 0; i < 10; i++)
      await app.auth.login({ ...CREDENTIALS, password: 'wrong' }, client).catch(() => undefined);
    await app.auth.attempt({ ticket, method: 'otp' }, client, () => true);
    await expect(app.auth.login(CREDENTIALS, client)).rejects.toMatchObject({ code: 'too_many_attempts' });
    await wrong(app, ticket);
    await app.auth.resetFailedLogins('alice');
    expect(await app.dataSource.getRepository(AuthLoginFailure).count()).toBe(0);
    await app.auth.login(CREDENTIALS, client);
  });

  it('an attempt with the method `pwd` counts as a login by password', async () => {
    const { app } = env;
    for (let i = 0; i < 2; i++) {
      const ticket = await app.auth.createLoginTicket(await idOf(app), { methods: ['hwk'] });
      for (let j = 0; j < 5; j++) await wrong(app, ticket, CLIENT, 'pwd');
    }
    await expect(app.auth.login(CREDENTIALS, CLIENT)).rejects.toMatchObject({ code: 'too_many_attempts' });
  });

  it('a check that throws or returns no boolean adds no method, and counts as a failure', async () => {
    const { app } = env;
    const ticket = await ticketFor(app);
    const attempt = (check: () => unknown) => app.auth.attempt({ ticket, method: 'otp' }, CLIENT, check as never);
    const failure = new Error('no connection');
    await expect(
      attempt(() => {
        throw failure;
      }),
    ).rejects.toBe(failure);
    await expect(attempt(() => Promise.reject(failure))).rejects.toBe(failure);
    for (const result of [undefined, 1, 'true']) {
      await expect(attempt(() => result)).rejects.toThrow(
        /The callback passed to attempt\(\) returned \w+\. Return true or false\./,
      );
    }
    await expect(attempt(() => true)).rejects.toMatchObject(INVALID_TICKET);
    const [stored] = await app.dataSource.getRepository(AuthLoginTicket).find();
    expect(Object.keys(JSON.parse(stored!.methods) as object)).toEqual(['pwd']);
    expect(app.sent('login_failed').map(({ failureCount }) => failureCount)).toEqual([1, 2, 3, 4, 5]);
  });

  it('a check that throws VerificationUnavailable counts as no failure, neither of the ticket nor of the user', async () => {
    const { app } = env;
    const ticket = await ticketFor(app);
    const unavailable = new VerificationUnavailable('the service does not answer');
    for (let i = 0; i < 12; i++) {
      const attempted = app.auth.attempt({ ticket, method: 'otp' }, CLIENT, () => Promise.reject(unavailable));
      await expect(attempted).rejects.toBe(unavailable);
    }
    expect(app.sent('login_failed')).toEqual([]);
    expect(await right(app, ticket)).toBe(true);
  });

  it('a ticket opens no session if only its first method is proven again', async () => {
    const { app } = env;
    enrolled.names.add('alice');
    const ticket = await ticketFor(app);
    await right(app, ticket, 'pwd');
    await expect(app.auth.openSession({ ticket })).rejects.toMatchObject(REQUIRED);
  });

  it('a proof with the ticket of another user does not open a session', async () => {
    const { app } = env;
    enrolled.names.add('alice').add('bob');
    const ticket = await ticketFor(app);
    const bobs = (await app.auth.verifyCredentials({ username: 'bob', password: PASSWORD })).ticket;
    await right(app, bobs);
    await expect(app.auth.openSession({ ticket })).rejects.toMatchObject(REQUIRED);
    const { accessToken } = await app.auth.openSession({ ticket: bobs });
    expect((await app.auth.authenticate(accessToken))!.userId).toBe(await idOf(app, 'bob'));
  });

  it('a second factor that was enabled since the first step is required when the session is opened', async () => {
    const { app } = env;
    const ticket = await ticketFor(app);
    enrolled.names.add('alice');
    await expect(app.auth.openSession({ ticket })).rejects.toMatchObject(REQUIRED);
  });
});

describeOnEachDatabase(
  'attempts within a session',
  { auth: { ...auth, recentLogin: { endpoint: true } } },
  (env: TestEnvironment) => {
    const attempt = async (app: TestApplication, token: string, isRight: boolean) =>
      app.auth.attempt({ principal: (await app.auth.authenticate(token))!, method: 'otp' }, CLIENT, () => isRight);

    it('a successful attempt adds the method to the session', async () => {
      const { app } = env;
      const { access_token: token } = await app.login();
      const start = new Date(app.clock.now());
      app.clock.advance(MINUTE);
      expect(await attempt(app, token, true)).toBe(true);
      const now = new Date(app.clock.now());
      expect((await app.auth.authenticate(token))!.methods).toEqual({ pwd: start, otp: now });
      expect((await app.auth.authenticate(token))!.authenticatedAt).toEqual(start);
    });

    it('each successful attempt ends the failure streak of its method, even with an older principal or at the same instant', async () => {
      const { app } = env;
      const { access_token: token } = await app.login();
      const principal = (await app.auth.authenticate(token))!;
      for (const isRight of [true, false, true]) {
        await app.auth.attempt({ principal, method: 'otp' }, CLIENT, () => isRight);
      }
      expect(await app.dataSource.getRepository(AuthLoginFailure).count()).toBe(0);
    });

    it('failed attempts are counted per method, with the delays of passwords, and the 100th of a method ends the session', async () => {
      const { app } = env;
      const { access_token: token } = await app.login();
      for (let i = 0; i < 9; i++) expect(await attempt(app, token, false)).toBe(false);
      for (let i = 0; i < 9; i++) await app.post('/auth/reauthenticate', token, { password: 'wrong' }).expect(400);
      expect(await attempt(app, token, false)).toBe(false);
      await expect(attempt(app, token, true)).rejects.toMatchObject({
        code: 'too_many_attempts',
        retryAfterSeconds: 30,
      });
      expect(app.sent('brute_force_threshold_hit').map(({ scope }) => scope)).toEqual(['session', 'session']);
      await app.login();
      await app.dataSource
        .getRepository(AuthLoginFailure)
        .update({ method: 'otp' }, { failureCount: 99, delayedUntil: 0 });
      expect(await attempt(app, token, false)).toBe(false);
      await app.get('/me', token).expect(401);
      expect(app.sent('user_logged_out')).toMatchObject([{ reason: 'failed_reauthentication' }]);
    });

    it('failed attempts within sessions and with tickets together block the method of the user, but not passwords', async () => {
      const { app } = env;
      for (let i = 0; i < 10; i++) {
        const { access_token: token } = await app.login();
        for (let j = 0; j < 9; j++) await attempt(app, token, false);
        app.clock.advance(SECOND);
      }
      for (let i = 0; i < 10; i++) await wrong(app, await ticketFor(app), { ipAddress: `198.51.100.${i}` });
      expect(app.sent('login_blocked')).toMatchObject([{ scope: 'account' }]);
      const { access_token: token } = await app.login();
      await expect(attempt(app, token, true)).rejects.toMatchObject({ code: 'too_many_attempts' });
      await app.post('/auth/reauthenticate', token, { password: PASSWORD }).expect(200);
    });

    it.each([
      ['the password does not allow further guesses of a code', 'otp', 'pwd'],
      ['a recovery code does not allow further guesses of a code', 'otp', 'recovery'],
      ['the method `otp-2` does not allow further guesses for the method `otp`', 'otp', 'otp-2'],
      ['a code does not allow further guesses of the password', 'pwd', 'otp'],
    ])('proving %s', async (_, guessed, known) => {
      const { app } = env;
      let { access_token: token } = await app.login();
      const attemptAt = async (method: string, isRight: boolean) =>
        app.auth.attempt({ principal: (await app.auth.authenticate(token))!, method }, CLIENT, () => isRight);
      for (let i = 0; i < 9; i++) await attemptAt(guessed, false);
      await attemptAt(known, false);
      await attemptAt(known, true);
      if (known === 'pwd') {
        token = (await app.post('/auth/reauthenticate', token, { password: PASSWORD }).expect(200)).body.access_token;
        const change = { current_password: PASSWORD, new_password: PASSWORD };
        token = (await app.post('/auth/password/change', token, change).expect(200)).body.access_token;
      }
      const principal = (await app.auth.authenticate(token))!;
      token = (await app.auth.confirmIdentity(principal, { methods: ['hwk'] })).accessToken;
      await attemptAt(guessed, false);
      await expect(attemptAt(guessed, true)).rejects.toMatchObject({ retryAfterSeconds: 30 });
      app.clock.advance(30 * SECOND);
      await attemptAt(guessed, true);
      for (let i = 0; i < 9; i++) expect(await attemptAt(guessed, false)).toBe(false);
    });

    it('an attempt is refused if the access token is no longer current', async () => {
      const { app } = env;
      const { access_token: token, refresh_token: refreshToken } = await app.login();
      const principal = (await app.auth.authenticate(token))!;
      const check = async (): Promise<boolean> => {
        await app.refresh(refreshToken).expect(200);
        return true;
      };
      const late = app.auth.attempt({ principal, method: 'otp' }, CLIENT, check);
      await expect(late).rejects.toMatchObject({ code: 'access_token_invalid' });
      const made = { ...principal, methods: {}, data: {} };
      const attempted = app.auth.attempt({ principal: made, method: 'otp' }, CLIENT, () => true);
      await expect(attempted).rejects.toMatchObject({ code: 'access_token_invalid' });
    });

    it('an attempt refuses an invalid method name', async () => {
      const { app } = env;
      const attempted = app.auth.attempt({ ticket: '', method: 'OTP' }, CLIENT, () => true);
      await expect(attempted).rejects.toThrow('method is "OTP"');
    });
  },
);

describeOnEachDatabase(
  'endpoints for a user who needs a second factor',
  { auth: { ...auth, recentLogin: { endpoint: true } } },
  (env) => {
    it('no endpoint opens a session without the second factor: login, refresh, reset, password change and reauthentication', async () => {
      const { app } = env;
      enrolled.names.add('alice');
      const ticket = await ticketFor(app);
      await app.refresh(ticket).expect(400);
      for (const path of ['/me', '/auth/sessions', '/auth/history']) await app.get(path, ticket).expect(401);
      for (const path of ['reauthenticate', 'password/change', 'logout', 'logout/all']) {
        await app
          .post(`/auth/${path}`, ticket, { password: PASSWORD, current_password: PASSWORD, new_password: PASSWORD })
          .expect(401);
      }
      const { token } = await app.auth.createPasswordResetToken(await idOf(app));
      await app.auth.redeemPasswordResetToken(token, PASSWORD);
      await app.http.post('/auth/login').send(CREDENTIALS).expect(403);
      await expect(app.auth.openSession({ ticket })).rejects.toMatchObject(INVALID_TICKET);
      expect(await sessionsOf(app)).toBe(0);
    });
  },
);
