import { hashSync } from 'bcrypt';
import {
  AllowApiKey,
  ApiKeys,
  AUTH_ENTITIES_WITHOUT_USERS,
  type AuthError,
  type ClientInfo,
  CurrentPrincipal,
  OpenSockets,
  SessionAdministration,
  type StoredUser,
  UserStore,
} from 'nestjs-session-auth';
import type { Test } from 'supertest';
import { Users } from '../../libs/auth/src/users/users';
import { cookiesIn } from '../support/browser';
import { DATABASES } from '../support/databases';
import { describeEverywhere, describeOnEachDatabase, INVALID_ACCESS, INVALID_REFRESH } from '../support/environment';
import { controllerOf, returning } from '../support/handlers';
import { DrivenImpersonationPolicy } from '../support/impersonation';
import { DrivenLoginPolicy } from '../support/login-policy';
import { entityOf, GENERATED_ID, TEXT } from '../support/mapped-users';
import { ALICE, createAlices, Member, tenants } from '../support/realms';
import { startForTest } from '../support/start-for-test';
import { PASSWORD, type LoginAnswer, type TestApplication } from '../support/test-application';

const NEW = 'another long password';
const HARDWARE = { methods: ['hwk'] };
const TABLES = ['sessions', 'events', 'login_failures', 'login_tickets', 'password_resets', 'user_locks', 'api_keys'];

/** What the attacker knows of the user of acme. */
type Stolen = LoginAnswer & Record<'used' | 'cookies' | 'ticket' | 'reset' | 'key', string> & { readonly id: number };

/** Returns the result of a call, or the code of its error. */
const codeOf = (call: Promise<unknown>): Promise<unknown> => call.catch((error: AuthError) => error.code);

const loginPolicy = new DrivenLoginPolicy();
const options = {
  ...tenants({ cookies: { mode: 'optional', secure: false }, loginPolicy }),
  controllers: [controllerOf('', [], { orders: [AllowApiKey('a'), returning(CurrentPrincipal())] })],
};

describeEverywhere('realms', options, (env) => {
  const { app } = env;
  const acme = { realm: 'acme' };
  let stolen: Stolen;
  /** The instance that receives the stolen credentials. */
  let on = app;
  const inRealm = (realm: string | undefined, test: Test): Test =>
    realm === undefined ? test : test.set('X-Realm', realm);
  const login = (realm: string, body: object = ALICE): Test => inRealm(realm, app.http.post('/auth/login/')).send(body);
  const stored = async (): Promise<unknown> =>
    Promise.all(TABLES.map((table) => app.dataSource.query<object[]>(`SELECT * FROM auth_${table} ORDER BY 1`)));
  const withCookies = (test: Test): Test =>
    test.set('Cookie', stolen.cookies).set('X-Auth-Transport', 'cookie').set('Sec-Fetch-Site', 'same-origin');

  beforeEach(async () => {
    const [id] = await createAlices(app);
    const { body } = await login('acme').expect(200);
    const { refresh_token: used } = body as LoginAnswer;
    const refreshed = await inRealm('acme', app.refresh(used)).expect(200);
    const host = new URL(app.url).host;
    const set = await login('acme').set('X-Auth-Transport', 'cookie').set('Origin', `http://${host}`).expect(200);
    const cookies = cookiesIn(set)
      .map((cookie) => cookie.split(';')[0])
      .join('; ');
    const { ticket } = await app.auth.verifyCredentials(ALICE, acme);
    const { token: reset } = await app.auth.createPasswordResetToken(id!, acme);
    const administration = app.nest.get(SessionAdministration);
    const { key } = await administration.createApiKey(id!, { name: 'a', scopes: ['a'] }, { actor: 'carol' });
    stolen = { ...body, ...refreshed.body, used, id: id!, ticket, reset, key, cookies };
  });

  const REQUESTS: [title: string, attack: () => Test, status: number][] = [
    ['an access token', () => app.get('/me', stolen.access_token), 401],
    ['an access token that logs out', () => app.post('/auth/logout/', stolen.access_token), 401],
    ['a live refresh token', () => app.refresh(stolen.refresh_token), 400],
    ['a used refresh token', () => app.refresh(stolen.used), 400],
    ['cookies', () => withCookies(app.http.get('/me')), 401],
    ['cookies that refresh', () => withCookies(app.http.post('/auth/token/refresh/')), 400],
    ['cookies that log out', () => withCookies(app.http.post('/auth/logout/')), 401],
    ['an API key', () => app.get('/orders', stolen.key), 401],
  ];
  const METHODS: [title: string, attack: (client: ClientInfo) => Promise<unknown>, code: string | null][] = [
    ['an access token', (client) => on.auth.authenticate(stolen.access_token, client), null],
    ['a refresh token', (client) => on.auth.refresh(stolen.refresh_token, client), 'invalid_refresh_token'],
    ['a used refresh token', (client) => on.auth.refresh(stolen.used, client), 'invalid_refresh_token'],
    ['a ticket', (client) => on.auth.openSession({ ticket: stolen.ticket }, client), 'invalid_login_ticket'],
    ['a guess', (client) => on.auth.attempt({ ...stolen, method: 'otp' }, client, () => true), 'invalid_login_ticket'],
    ['a reset token', (client) => on.auth.redeemPasswordResetToken(stolen.reset, NEW, client), 'invalid_reset_token'],
    ['an API key', (client) => on.nest.get(ApiKeys).authenticate(stolen.key, ['a'], client), 'access_token_invalid'],
    ['an id for a session', (client) => on.auth.openSession(stolen.id, client), 'unknown_user'],
    ['an id for a ticket', (client) => on.auth.createLoginTicket(stolen.id, HARDWARE, client), 'unknown_user'],
    ['an id for a reset token', (client) => on.auth.createPasswordResetToken(stolen.id, client), 'unknown_user'],
  ];
  const ofCredentials = METHODS.slice(0, 7);

  async function worksInItsRealm(): Promise<void> {
    await inRealm('acme', app.get('/me', stolen.access_token)).expect(200);
    const owner = { userId: stolen.id, ...acme };
    expect((await inRealm('acme', app.get('/orders', stolen.key)).expect(200)).body).toMatchObject([owner]);
    expect(await app.nest.get(ApiKeys).authenticate(stolen.key, ['a'], acme)).toMatchObject(owner);
    await inRealm('acme', withCookies(app.http.get('/me'))).expect(200);
    await inRealm('acme', app.refresh(stolen.refresh_token)).expect(200);
    await app.auth.openSession({ ticket: stolen.ticket }, acme);
    await app.auth.redeemPasswordResetToken(stolen.reset, NEW, acme);
  }

  it.each(REQUESTS)(
    'with the realm of another call or none, %s is refused and changes nothing',
    async (_, attack, status) => {
      const before = await stored();
      for (const realm of ['globex', 'ACME', 'x'.repeat(65), 'failure', 'promise', undefined]) {
        const answer = await inRealm(realm, attack()).expect(status, status === 400 ? INVALID_REFRESH : INVALID_ACCESS);
        if (status === 400) expect(answer.headers['set-cookie']).toBeUndefined();
      }
      expect(await stored()).toEqual(before);
      expect(app.sent('token_reuse_detected')).toEqual([]);
      await worksInItsRealm();
    },
  );

  it.each(METHODS)(
    'a method that names another realm or none refuses %s and changes nothing',
    async (_, attack, code) => {
      const before = await stored();
      for (const realm of ['globex', 'ACME', 'acme ', '', null, undefined]) {
        expect(await codeOf(attack({ realm: realm as string }))).toBe(code);
      }
      expect(await stored()).toEqual(before);
      await worksInItsRealm();
    },
  );

  it('failed logins with a name count in their realm, also if no user has the name, and a reset by name names it', async () => {
    const guess = { username: 'carol@example.com', password: 'wrong' };
    for (let i = 0; i < 10; i++) await login('globex', guess).expect(400);
    await login('acme', guess).expect(400);
    await app.auth.resetFailedLogins(guess.username, acme);
    await login('globex', guess).expect(429);
    await app.auth.createUser({ username: guess.username, password: PASSWORD, realm: 'acme' });
    await login('acme', { ...guess, password: PASSWORD }).expect(200);
    await login('globex', guess).expect(429);
    await app.auth.resetFailedLogins(guess.username, { realm: 'globex' });
    await login('globex', guess).expect(400);
  });

  it('the login policy receives the realm of the login', async () => {
    await login('globex').expect(200);
    expect(loginPolicy.asked.at(-1)).toMatchObject({ user: { username: ALICE.username }, login: { realm: 'globex' } });
  });

  it('a name of a new user is taken in its realm only, and a realm is required', async () => {
    await expect(app.auth.createUser({ ...ALICE, ...acme })).rejects.toMatchObject({ code: 'username_taken' });
    for (const realm of [undefined, '', 'x'.repeat(65), 7]) {
      const created = app.auth.createUser({ ...ALICE, realm: realm as string });
      await expect(created).rejects.toMatchObject({ code: 'invalid_field', fields: { realm: [expect.any(String)] } });
    }
    await app.auth.createUser({ ...ALICE, username: 'bob@example.com', realm: 'x'.repeat(64) });
    const created = app.auth.createUser({ ...ALICE, ...acme, username: 'eve', properties: { tenant: 'globex' } });
    await expect(created).rejects.toThrow("'tenant', which the option users maps");
    expect(await app.dataSource.getRepository(Member).count()).toBe(3);
  });

  it('a socket closes if its session was opened before the option was set', async () => {
    const close = jest.fn();
    const sockets = app.nest.get(OpenSockets);
    sockets.register(stolen.session_id, close);
    expect(await sockets.check()).toBe(0);
    await app.dataSource.query('UPDATE auth_sessions SET realm = NULL');
    // The check at registration may close it too.
    await sockets.check();
    expect(close).toHaveBeenCalledTimes(1);
  });

  it('an exception or a promise of realmOf() is logged once a minute', async () => {
    app.clock.advance(60_000);
    for (const realm of ['failure', 'promise']) {
      await inRealm(realm, app.http.get('/open')).expect(200);
      expect(app.logs).toEqual([]);
      for (let i = 0; i < 2; i++) await login(realm).expect(400);
      expect(app.logs).toEqual([expect.stringContaining('The option realm failed, so the call has no realm')]);
      app.logs.length = 0;
      app.clock.advance(60_000);
    }
  });

  it('a call without a realm logs nobody in, also users without one', async () => {
    const members = app.dataSource.getRepository(Member);
    for (const tenant of ['', null]) {
      await members.update({ id: stolen.id }, { tenant });
      for (const realm of ['', 'acme', 'failure']) await login(realm).expect(400);
    }
    await app.http.post('/auth/login/').send(ALICE).expect(400);
  });

  it('a user moved to another realm has no valid session, API key or socket in either realm, until moved back', async () => {
    const members = app.dataSource.getRepository(Member);
    const sockets = app.nest.get(OpenSockets);
    const close = jest.fn();
    sockets.register((await app.auth.authenticate(stolen.access_token, acme))!, close);
    expect(await sockets.check()).toBe(0);
    await members.update({ email: ALICE.username, tenant: 'globex' }, { email: 'bob@example.com' });
    await members.update({ id: stolen.id }, { tenant: 'globex' });
    // The check at registration can be the first that finds the move.
    await sockets.check();
    expect(close).toHaveBeenCalledTimes(1);
    const before = await stored();
    for (const realm of ['acme', 'globex']) {
      for (const [, attack, status] of REQUESTS) await inRealm(realm, attack()).expect(status);
      for (const [, attack, code] of ofCredentials) expect(await codeOf(attack({ realm }))).toBe(code);
    }
    expect(await stored()).toEqual(before);
    await members.update({ id: stolen.id }, { tenant: 'acme' });
    await worksInItsRealm();
  });

  it('a session of a user who was disabled ends with a call of its realm, not with one of another', async () => {
    await app.dataSource.getRepository(Member).update({ id: stolen.id }, { active: false });
    const before = await stored();
    await inRealm('globex', app.get('/me', stolen.access_token)).expect(401);
    await inRealm('globex', app.refresh(stolen.refresh_token)).expect(400);
    for (const realm of ['globex', undefined, 'failure'])
      await inRealm(realm, app.get('/orders', stolen.key)).expect(401);
    const reset = app.auth.createPasswordResetToken(stolen.id, { realm: 'globex' });
    expect(await codeOf(reset)).toBe('unknown_user');
    expect(await stored()).toEqual(before);
    await inRealm('acme', app.get('/me', stolen.access_token)).expect(401);
    expect(app.sent('user_logged_out').map(({ reason }) => reason)).toContain('user_disabled');
  });

  it('an instance without the option realm refuses every credential of a realm, and changes nothing', async () => {
    on = await env.start(
      tenants({ realm: undefined, users: { entity: Member, username: 'email', passwordHash: 'password' } } as never),
    );
    const close = jest.fn();
    on.nest.get(OpenSockets).register(stolen.session_id, close);
    await on.nest.get(OpenSockets).check();
    expect(close).toHaveBeenCalledTimes(1);
    const before = await stored();
    for (const [, attack, code] of ofCredentials) expect(await codeOf(attack(acme))).toBe(code);
    expect(await stored()).toEqual(before);
    on = app;
  });
});

const impersonating = tenants({ impersonationPolicy: DrivenImpersonationPolicy });

describeOnEachDatabase('impersonation with realms', impersonating, ({ app }) => {
  it('an administrator acts only as users of their realm, and no longer after a move to another', async () => {
    const [alice, other] = await createAlices(app);
    const acme = { realm: 'acme' };
    const { id } = await app.auth.createUser({ ...ALICE, ...acme, username: 'bob@example.com' });
    const own = await app.auth.openSession(id, acme);
    const bob = (await app.auth.authenticate(own.accessToken, acme))!;
    const act = (userId: number) =>
      app.nest.get(SessionAdministration).impersonate(bob, userId, { reason: 'A question' });
    await expect(act(other!)).rejects.toMatchObject({ code: 'unknown_user' });
    const { accessToken } = await act(alice!);
    expect(await app.auth.authenticate(accessToken, acme)).toMatchObject({ userId: alice });
    await app.dataSource.getRepository(Member).update({ id: Number(id) }, { tenant: 'globex' });
    expect(await app.auth.authenticate(accessToken, acme)).toBeNull();
  });
});

describeOnEachDatabase('without the option realm', {}, ({ app }) => {
  it('a realm of a client is ignored, and createUser() refuses one', async () => {
    const client = { realm: 'acme' };
    const { ticket, user } = await app.auth.verifyCredentials({ username: 'alice', password: PASSWORD }, client);
    const opened = await app.auth.openSession({ ticket }, client);
    const { accessToken } = await app.auth.refresh(opened.refreshToken, { realm: 'globex' });
    const principal = (await app.auth.authenticate(accessToken, { realm: 'globex' }))!;
    expect(principal.realm).toBeNull();
    const { token } = await app.auth.createPasswordResetToken(user.id, client);
    await app.auth.redeemPasswordResetToken(token, NEW, client);
    await expect(app.auth.createUser({ ...ALICE, ...client })).rejects.toThrow('Set the option realm too.');
    await app.auth.resetPassword(user.id, PASSWORD);
  });
});

/** Two tables with the same ids: the prefix of an id is its realm. */
class AnyRealm extends UserStore {
  realm: string | null = 'staff';
  private readonly alice = { username: ALICE.username, passwordHash: hashSync(PASSWORD, 4), active: true };

  override findById = async (id: string): Promise<StoredUser> => ({ ...this.alice, id, realm: this.realm });
  override findByUsername = (_: string, { realm }: { realm: string | null }): Promise<StoredUser> =>
    this.findById(`${realm}:1`);
}

describeOnEachDatabase('realms of a UserStore', { ...tenants({ users: AnyRealm }) }, ({ app }) => {
  it('a user whom the store returns for another realm is ignored, and the session of a user who was moved is refused', async () => {
    const store = app.nest.get<{ store: AnyRealm }>(Users).store;
    const staff = { realm: 'staff' };
    await expect(app.auth.login(ALICE, { realm: 'customers' })).rejects.toMatchObject({ code: 'invalid_credentials' });
    expect(app.logs.filter((line) => line.includes('a user of another realm'))).toHaveLength(1);
    const { accessToken, refreshToken } = await app.auth.login(ALICE, staff);
    expect(await app.auth.authenticate(accessToken, staff)).toMatchObject({ userId: 'staff:1', ...staff });
    for (const realm of [null, 'customers', '']) {
      store.realm = realm;
      for (const client of [staff, { realm: realm ?? '' }]) {
        expect(await app.auth.authenticate(accessToken, client)).toBeNull();
        expect(await codeOf(app.auth.refresh(refreshToken, client))).toBe('invalid_refresh_token');
      }
    }
    store.realm = 'staff';
    await app.auth.refresh(refreshToken, staff);
  });
});

describe.each(DATABASES)('the uniqueness of names in a realm on %s', (name) => {
  const Plain = entityOf('Plain', {
    id: GENERATED_ID,
    tenantId: { type: 'varchar', length: 99 },
    email: { type: 'varchar', length: 99 },
    hash: TEXT,
  });
  const users = { entity: Plain, username: 'email', passwordHash: 'hash', realm: 'tenantId' };
  const create = (app: TestApplication, realm: string) => app.auth.createUser({ ...ALICE, realm });

  it.each([
    [['tenantId', 'email'], true],
    [['email', 'tenantId'], true],
    [['email'], false],
    [['tenantId'], false],
  ])('startup accepts a unique index of %p: %p', async (columns, isAccepted) => {
    const app = await startForTest(name, { ...tenants({ users }), entities: [Plain, ...AUTH_ENTITIES_WITHOUT_USERS] });
    const warned = app.logs.filter((line) => line.includes('together with users.realm'));
    const [suggested] = /CREATE UNIQUE INDEX .*\)/.exec(warned[0]!)!;
    const keys = columns.map((column) => app.dataSource.driver.escape(column)).join(', ');
    await app.dataSource.query(`CREATE UNIQUE INDEX names ON ${app.dataSource.driver.escape('plain')} (${keys})`);
    if (!isAccepted) {
      await expect(create(app, 'acme')).rejects.toMatchObject({ code: 'not_supported' });
      await app.dataSource.query(suggested);
    }
    await create(app, 'acme');
    await expect(create(app, 'acme')).rejects.toMatchObject({ code: 'username_taken' });
  });
});
