import { Controller, Get, Next } from '@nestjs/common';
import { AllowApiKey, ApiKeys, CurrentPrincipal, CurrentSession, CurrentUser } from 'nestjs-session-auth';
import { OptionalAuth, Public, RequireRecentLogin, RequireRoles, SessionAdministration } from 'nestjs-session-auth';
import { createKey } from '../support/api-keys';
import { describeHttp, INVALID_ACCESS, MISSING } from '../support/environment';
import { controllerOf, GUARD, OfRequest, returning } from '../support/handlers';
import { HeaderTokens } from '../support/header-tokens';
import { mappedUsers, MEMBERS_WITH_ROLES, MemberWithRoles } from '../support/mapped-users';
import { applicationStarter } from '../support/start-for-test';
import { CREDENTIALS, PASSWORD, type TestApplication } from '../support/test-application';

const NOT_ALLOWED = { detail: 'This call does not accept API keys.', code: 'api_key_not_allowed' };
const SCOPE_MISSING = { detail: 'The API key does not have the required scope.', code: 'insufficient_scope' };
const SESSION_REQUIRED = { detail: 'This call requires a session.', code: 'session_required' };
const READ = AllowApiKey('orders:read');
const WRITE = AllowApiKey('orders:write');

const Orders = controllerOf('orders', [], {
  own: [READ, returning(CurrentPrincipal(), OfRequest('auth'), OfRequest('user'))],
  both: [READ, WRITE],
  user: [READ, returning(CurrentUser())],
  guarded: [GUARD],
  optional: [OptionalAuth()],
  optionalKeys: [OptionalAuth(), READ, returning(CurrentPrincipal())],
  public: [Public(), returning(OfRequest('auth'))],
  recent: [RequireRecentLogin({ withinSeconds: 600 }), READ],
  admin: [RequireRoles('admin'), READ],
  session: [READ, returning(CurrentSession())],
});
const Base = controllerOf('class', [READ], { read: [], write: [WRITE], open: [Public()], optional: [OptionalAuth()] });
const controllers = [Orders, Base, controllerOf('derived', [], {}, Base)];

const revoke = async (app: TestApplication, id: string) => app.nest.get(ApiKeys).revoke(await app.userId(), id);

describeHttp('API keys', { controllers, auth: { endpoints: { reauthenticate: true } } }, ({ app }) => {
  it('a route with @AllowApiKey() admits a key that has all scopes, with the user but without a session', async () => {
    const userId = await app.userId();
    const { key, id } = await createKey(app);
    const principal = { userId, roles: [], realm: null, apiKey: { id, name: 'export', scopes: ['orders:read'] } };
    await app.get('/orders/own', key).expect(200, [principal, principal, { id: userId, username: 'alice' }]);
    expect((await app.get('/orders/user', key).expect(200)).body).toMatchObject([{ username: 'alice' }]);
    for (const scopes of [['orders:read'], ['orders:write']])
      await app.get('/orders/both', (await createKey(app, { scopes })).key).expect(403, SCOPE_MISSING);
    const both = await createKey(app, { scopes: ['orders:write', 'orders:read'] });
    for (const token of [both.key, (await app.login()).access_token]) await app.get('/orders/both', token).expect(200);
  });

  it('the decorator of a handler replaces that of its class, which subclasses do not inherit', async () => {
    const paths = ['class/read', 'class/write', 'class/open', 'class/optional'];
    for (const [scope, expected] of [
      ['orders:read', [200, 403, 200, 200, 403, 403, 200, 403]],
      ['orders:write', [403, 200, 200, 403, 403, 200, 200, 403]],
    ] as const) {
      const { key } = await createKey(app, { scopes: [scope] });
      const all = [...paths, ...paths.map((path) => path.replace('class', 'derived'))];
      const statuses = all.map(async (path) => (await app.get(`/${path}`, key)).status);
      expect(await Promise.all(statuses)).toEqual(expected);
    }
  });

  it.each(['/orders/guarded', '/orders/optional', '/me', '/derived/read'])(
    '%s, which has no @AllowApiKey(), refuses a key, and an invalid one as an invalid token',
    async (path) => {
      const { key, id } = await createKey(app);
      await app.get(path, key).expect(403, NOT_ALLOWED);
      await revoke(app, id);
      await app.get(path, key).expect(401, INVALID_ACCESS);
    },
  );

  it('every route of the library refuses a key, and public routes do not read it', async () => {
    const { key } = await createKey(app);
    const { session_id } = await app.login();
    for (const path of ['sessions', 'history']) await app.get(`/auth/${path}`, key).expect(403, NOT_ALLOWED);
    const body = { current_password: PASSWORD, new_password: 'a new and better password', password: PASSWORD };
    for (const path of ['logout', 'logout/all', 'password/change', 'reauthenticate'])
      await app.post(`/auth/${path}`, key, body).expect(403, NOT_ALLOWED);
    await app.delete(`/auth/sessions/${session_id}`, key).expect(403, NOT_ALLOWED);
    await app.post('/auth/login', key, CREDENTIALS).expect(200);
    await app.post('/auth/token/refresh', key, { refresh_token: key }).expect(400);
    await app.get('/orders/public', key).expect(200, [null]);
  });

  it('a key proves no recent login, has no session, creates no key, and has only the roles of its user', async () => {
    const { key } = await createKey(app);
    await app.get('/orders/recent', key).expect(403, /recent_login_required/);
    await app.get('/orders/session', key).expect(403, SESSION_REQUIRED);
    await app.get('/orders/admin', key).expect(403, /insufficient_role/);
    expect(await app.auth.authenticate(key)).toBeNull();
    const keys = app.nest.get(ApiKeys);
    const principal = (await keys.authenticate(key, ['orders:read'])) as never;
    const child = keys.create(principal, { name: 'child', scopes: ['orders:read', 'admin'] });
    await expect(child).rejects.toMatchObject({ code: 'session_required' });
  });

  it('a key is read from the Authorization header only, and a corrupted one is an invalid token', async () => {
    const { key } = await createKey(app);
    const Cookie = ['auth_access', '__Host-auth_access', 'key'].map((name) => `${name}=${key}`).join('; ');
    const misplaced = app.http.get(`/orders/own?access_token=${key}&key=${key}`).set({ Cookie, 'X-Key': key });
    await misplaced.expect(401, MISSING);
    for (const token of [key.slice(0, -1), `${key}x`, key.toLowerCase(), key.replace('nsak', 'nsaa'), `x${key}`])
      for (const path of ['own', 'optionalKeys']) await app.get(`/orders/${path}`, token).expect(401, INVALID_ACCESS);
    const { body } = await app.get('/orders/optionalKeys', key).expect(200);
    expect(body).toMatchObject([{ userId: await app.userId() }]);
    await app.http.get('/orders/optionalKeys').expect(200, [null]);
  });
});

const start = applicationStarter({ controllers });

it.each(['optional', 'only'] as const)(
  'a key in the access cookie is invalid, and one in the Authorization header wins over cookies, with cookies.mode: %s',
  async (mode) => {
    const app = await start({ auth: { cookies: { mode } } });
    const { key } = await createKey(app);
    const cookie = `__Host-auth_access=${key}`;
    await app.http.get('/orders/own').set('Cookie', cookie).expect(401, INVALID_ACCESS);
    await app.http.get('/orders/optionalKeys').set('Cookie', cookie).expect(200, [null]);
    await app.get('/orders/own', key).set('Cookie', cookie).expect(200);
  },
);

it('a handler that passes its request on to another handler does not lend its scopes to that handler', async () => {
  @Controller('passed-on')
  class First {
    @Get('*path')
    @READ
    pass(@Next() next: () => void): void {
      next();
    }
  }
  const second = controllerOf('passed-on', [], { write: [WRITE], guarded: [GUARD], read: [READ] });
  const app = await start({ controllers: [First, second] });
  const { key } = await createKey(app);
  await app.get('/passed-on/write', key).expect(403, SCOPE_MISSING);
  await app.get('/passed-on/guarded', key).expect(403, NOT_ALLOWED);
  await app.get('/passed-on/read', key).expect(200);
});

it('a token source can find a key, but not in a cookie', async () => {
  const app = await start({ auth: { tokenSource: HeaderTokens } });
  const { key } = await createKey(app);
  const get = () => app.http.get('/orders/own').set('X-Token', key);
  await get().expect(200);
  await get().set('Cookie', `a=${key}`).set('Sec-Fetch-Site', 'none').expect(401, INVALID_ACCESS);
});

it('a key has the roles of its user at each call', async () => {
  const app = await start(mappedUsers(MEMBERS_WITH_ROLES, {}, ['alice']));
  const given = { name: 'export', scopes: ['orders:read'] };
  const { key } = await app.nest.get(SessionAdministration).createApiKey(1, given, { actor: 'root' });
  await app.get('/orders/admin', key).expect(403);
  await app.dataSource.getRepository(MemberWithRoles).update({ email: 'alice' }, { roles: ['admin'] as never });
  await app.get('/orders/admin', key).expect(200);
  expect((await app.get('/orders/own', key)).body[0]).toMatchObject({ userId: 1, roles: ['admin'] });
});
