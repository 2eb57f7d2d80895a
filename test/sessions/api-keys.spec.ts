import { Controller, Get } from '@nestjs/common';
import {
  AllowApiKey,
  ApiKeys,
  AuthApiKey,
  type AuthErrorCode,
  AuthUser,
  type NewApiKey,
  OpenSockets,
  SessionAdministration,
} from 'nestjs-session-auth';
import { Database } from '../../libs/auth/src/database/database';
import { createKey, principalOf } from '../support/api-keys';
import { changeAfterRead } from '../support/change-after-read';
import { DAY, HOUR, MINUTE } from '../support/driven-clock';
import { describeApplication, describeOnEachDatabase, restorePassword, UUID } from '../support/environment';
import { PASSWORD, type TestApplication } from '../support/test-application';

const INVALID = { detail: 'Invalid or expired access token.', code: 'access_token_invalid' };
const NEW_PASSWORD = 'a new and better password';

@Controller('orders')
class OrdersController {
  @Get()
  @AllowApiKey('orders:read')
  orders(): void {}
}

const options = { controllers: [OrdersController] };
const storedKeys = ({ dataSource }: TestApplication) => dataSource.getRepository(AuthApiKey).find();

describeOnEachDatabase('API keys', options, ({ app, start, tap }) => {
  let keys: ApiKeys;
  let sockets: OpenSockets;
  let administration: SessionAdministration;
  beforeAll(() => {
    keys = app.nest.get(ApiKeys);
    sockets = app.nest.get(OpenSockets);
    administration = app.nest.get(SessionAdministration);
  });
  beforeEach(async () => {
    await app.setActive('alice', true);
    await restorePassword(app);
  });

  it('a key is returned once, and the database has its digest but not its secret', async () => {
    const expiresAt = new Date(app.clock.now() + DAY);
    const name = 'Exportação 🗝';
    const { key, ...info } = await createKey(app, { name, expiresAt });
    const dates = { createdAt: new Date(app.clock.now()), expiresAt, lastUsedAt: null };
    expect(info).toEqual({ id: expect.stringMatching(UUID), name, scopes: ['orders:read'], ...dates });
    const { key: otherKey, ...other } = await createKey(app);
    const userId = await app.userId();
    expect(key).toMatch(/^nsak_[A-Za-z0-9_-]{64}[A-Za-z0-9]{6}$/);
    expect(Buffer.from(key.slice(5), 'base64url').toString('hex', 0, 16)).toBe(info.id.replaceAll('-', ''));
    expect(otherKey).not.toBe(key);
    const listed = await keys.list(userId);
    expect(listed).toEqual(expect.arrayContaining([other, info]));
    const exported = await app.auth.exportUserData(userId);
    expect(exported.apiKeys).toEqual(listed);
    expect(JSON.stringify([await storedKeys(app), exported])).not.toContain(key.slice(27, 60));
    const [created] = await app.auth.history(userId, { event: ['api_key_created'] });
    expect(created?.extra).toEqual({ key_id: other.id, name: 'export', scopes: ['orders:read'] });
    expect(await keys.list(await app.userId('bob'))).toEqual([]);
  });

  /** Returns the recorded ends of keys. */
  const revocations = async (): Promise<object[]> =>
    (await app.auth.history(await app.userId(), { event: ['api_key_revoked'] })).map(({ extra }) => extra);

  const disableAndEnable = async (userId: string): Promise<void> => {
    await app.setActive('alice', false);
    await app.auth.enableUser(userId);
  };
  const expire = async (): Promise<void> => {
    app.clock.advance(DAY);
    await sockets.check();
  };

  let closings = 0;
  const disableAndCheck = async (): Promise<void> => {
    await app.setActive('alice', false);
    await sockets.check();
    expect(closings).toBe(1);
  };

  it.each<[way: string, reason: string | null, end: (userId: string, id: string) => Promise<unknown>]>([
    ['its user revokes it', 'user', (userId, id) => keys.revoke(userId, id.toUpperCase())],
    ['an administrator revokes it', 'admin', (userId, id) => keys.revoke(userId, id, {}, { actor: 'root' })],
    ['it expires', null, () => expire()],
    ['its user is disabled', 'user_disabled', (userId) => app.auth.disableUser(userId)],
    ['the password is reset', 'password_reset', (userId) => app.auth.resetPassword(userId, NEW_PASSWORD)],
    ['a refresh token is reused', 'token_reuse', () => app.reuseToken()],
    ['its user is forgotten', null, (userId) => app.auth.forgetUser(userId)],
    ['its user is disabled in the table', 'user_disabled', () => app.setActive('alice', false)],
    ['its user is disabled in the table before the check', 'user_disabled', () => disableAndCheck()],
    ['its user was disabled in the table and is enabled', 'user_disabled', (userId) => disableAndEnable(userId)],
  ])('a key ends, and its sockets close, when %s', async (_, reason, end) => {
    const userId = await app.userId();
    const { key, id } = await createKey(app, { expiresAt: new Date(app.clock.now() + DAY) });
    const bob = await createKey(app, {}, 'bob');
    await app.get('/orders', key).expect(200);
    closings = 0;
    const closeOther = jest.fn();
    const unregister = sockets.register(await keys.authenticate(bob.key, ['orders:read']), closeOther);
    const opener = await keys.authenticate(key, ['orders:read']);
    const closed = new Promise((resolve) => sockets.register(opener, () => resolve(++closings)));
    await end(userId, id);
    await app.get('/orders', key).expect(401, INVALID);
    await closed;
    expect(closeOther).not.toHaveBeenCalled();
    unregister();
    expect(await keys.list(userId)).toEqual([]);
    const recorded = { key_id: id, name: 'export', reason, ...(reason === 'admin' ? { actor: 'root' } : {}) };
    expect(await revocations()).toEqual(reason === null ? [] : [recorded]);
    await app.setActive('alice', true);
    await app.get('/orders', key).expect(401, INVALID);
    await app.get('/orders', bob.key).expect(200);
  });

  it('a socket closes at once if its key ended before, and at the next check if another instance revoked its key', async () => {
    const [ended, deleted] = [await createKey(app), await createKey(app)];
    const ofEnded = await keys.authenticate(ended.key, ['orders:read']);
    await keys.revoke(await app.userId(), ended.id);
    await new Promise((resolve) => sockets.register(ofEnded, () => resolve(null)));
    const close = jest.fn();
    sockets.register(await keys.authenticate(deleted.key, ['orders:read']), close);
    await app.dataSource.getRepository(AuthApiKey).delete({ id: deleted.id });
    await sockets.check();
    // The verification at the registration may close it too.
    expect(close).toHaveBeenCalledTimes(1);
  });

  it('the key of a user who was deleted in the table ends at its next use', async () => {
    const { id } = await app.auth.createUser({ username: 'carol', password: PASSWORD });
    const { key } = await createKey(app, {}, 'carol');
    await app.dataSource.getRepository(AuthUser).delete({ id: String(id) });
    await app.get('/orders', key).expect(401, INVALID);
    expect(await storedKeys(app)).toEqual([]);
  });

  it('a password change ends keys only with revokeApiKeysOnPasswordChange, and logout/all and the end of sessions never do', async () => {
    const strict = await start({ auth: { revokeApiKeysOnPasswordChange: true, revokeOnPasswordChange: false } });
    const userId = await app.userId();
    const { key } = await createKey(app);
    const change = async ({ auth }: TestApplication, currentPassword: string, newPassword: string) =>
      auth.changePassword(await principalOf(app), { currentPassword, newPassword });
    await change(app, PASSWORD, NEW_PASSWORD);
    await app.auth.endSessions(userId);
    await administration.end({ userId }, { actor: 'root' });
    await app.get('/orders', key).expect(200);
    await change(strict, NEW_PASSWORD, PASSWORD);
    await app.get('/orders', key).expect(401, INVALID);
    expect(await revocations()).toMatchObject([{ reason: 'password_change' }]);
  });

  it('pruning removes expired keys, and a revoked or expired key cannot be revoked again', async () => {
    const userId = await app.userId();
    const [expiring, kept] = [await createKey(app, { expiresAt: new Date(app.clock.now() + 1) }), await createKey(app)];
    app.clock.advance(1);
    const missing = { code: 'api_key_not_found', message: 'API key not found.' };
    for (const id of [expiring.id, 'x', undefined as never])
      await expect(keys.revoke(userId, id)).rejects.toMatchObject(missing);
    const { id: other } = await createKey(app);
    await expect(keys.revoke(await app.userId('bob'), kept.id)).rejects.toMatchObject(missing);
    expect(await app.auth.exportUserData(userId)).toMatchObject({ apiKeys: [{ id: other }, { id: kept.id }] });
    await createKey(app, { expiresAt: new Date(app.clock.now() + 1) });
    app.clock.advance(1);
    expect(await app.pruning.prune({ dryRun: true })).toMatchObject({ apiKeys: 1 });
    expect(await app.pruning.prune()).toMatchObject({ apiKeys: 1 });
    expect((await storedKeys(app)).map(({ id }) => id).sort()).toEqual([kept.id, other].sort());
  });

  it('a user has at most 100 keys that have not expired, also when keys are created in parallel', async () => {
    const principal = await principalOf(app);
    const { userId } = principal;
    const row = { userId: String(userId), name: 'x', scopes: '["a"]', digest: 'x', createdAt: app.clock.now() };
    const rows = Array.from({ length: 99 }, (_, i) => ({ ...row, id: `key ${i}`, expiresAt: i < 2 ? 1 : null }));
    await app.dataSource.getRepository(AuthApiKey).insert(rows);
    const create = (): Promise<unknown> => keys.create(principal, { name: 'x', scopes: ['a'] });
    const results = await Promise.allSettled(Array.from({ length: 5 }, create));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    await expect(create()).rejects.toMatchObject({ code: 'api_key_limit_reached' });
    expect(await storedKeys(app)).toHaveLength(100);
  });

  it.each<[string, AuthErrorCode, (userId: string) => Promise<unknown>]>([
    ['the session has ended', 'access_token_invalid', (userId) => app.auth.endSessions(userId)],
    ['the user is disabled', 'access_token_invalid', (userId) => app.auth.disableUser(userId)],
    ['the login is 10 minutes old', 'recent_login_required', async () => app.clock.advance(10 * MINUTE)],
  ])('no key is created after %s', async (_, code, end) => {
    const principal = await principalOf(app);
    await end(String(principal.userId));
    await expect(keys.create(principal, { name: 'x', scopes: ['a'] })).rejects.toMatchObject({ code });
    expect(await storedKeys(app)).toEqual([]);
    await app.auth.enableUser(principal.userId);
  });

  it('an administrator creates no key for a user who is disabled meanwhile, or does not exist', async () => {
    const userId = await app.userId();
    const given = { name: 'import', scopes: ['orders:write'] };
    const create = (id = userId, actor = 'root') => administration.createApiKey(id, given, { actor });
    changeAfterRead(app, () => app.auth.disableUser(userId));
    await expect(create()).rejects.toMatchObject({ code: 'unknown_user' });
    await app.auth.enableUser(userId);
    await expect(create('00000000-0000-4000-8000-000000000000')).rejects.toMatchObject({ code: 'unknown_user' });
    await expect(create(userId, '')).rejects.toMatchObject({ fields: { actor: [expect.any(String)] } });
    expect(await storedKeys(app)).toEqual([]);
    const { id } = await create();
    await app.get('/orders', (await create()).key).expect(403);
    const [event] = await app.auth.history(userId, { event: ['api_key_created'] });
    expect(event?.extra).toMatchObject({ actor: 'root', scopes: ['orders:write'] });
    expect(await storedKeys(app)).toContainEqual(expect.objectContaining({ id }));
  });

  it('the last use of a key is written in the background, at most once an hour', async () => {
    const { key } = await createKey(app);
    const run = jest.spyOn(app.nest.get(Database), 'run');
    const uses: (number | null)[] = [];
    const start = app.clock.now();
    for (const wait of [0, HOUR - 1, 1]) {
      app.clock.advance(wait);
      await app.get('/orders', key).expect(200);
      await Promise.all(run.mock.results.map(({ value }) => value as Promise<unknown>));
      uses.push(Number((await storedKeys(app))[0]!.lastUsedAt) - start);
    }
    expect(uses).toEqual([0, 0, HOUR]);
  });

  it('an unknown key costs the same statements as one with a wrong secret, and a session reads no keys', async () => {
    const { key: wrong, id } = await createKey(app);
    await app.dataSource.getRepository(AuthApiKey).update({ id }, { digest: 'a'.repeat(64) });
    const unknown = await createKey(app);
    await keys.revoke(await app.userId(), unknown.id);
    const { access_token } = await app.login();
    const statements = async (token: string): Promise<string[]> => {
      const sent: string[] = [];
      tap.hook = { before: ({ kind, sql }) => void (kind === 'statement' && sent.push(sql)) };
      await app.get('/orders', token);
      return sent;
    };
    await app.get('/orders', wrong).expect(401, INVALID);
    expect(await statements(wrong)).toEqual([expect.stringMatching(/^SELECT .*auth_api_keys/s)]);
    expect(await statements(unknown.key)).toEqual(await statements(wrong));
    expect(await statements(`${wrong}x`)).toEqual([]);
    expect((await statements(access_token)).join()).not.toContain('auth_api_keys');
  });

  it('keys that are used at the same time share statements', async () => {
    const created = [];
    for (let i = 0; i < 20; i++) created.push(await createKey(app, { scopes: [`scope${i}`] }));
    let reads = 0;
    tap.hook = { before: ({ sql }) => void (/^SELECT .*auth_api_keys/s.test(sql) && reads++) };
    const found = await Promise.all(created.map(({ key }, i) => keys.authenticate(key, [`scope${i}`])));
    expect(found.map(({ apiKey }) => apiKey?.id)).toEqual(created.map(({ id }) => id));
    // Two, and one more for each 50 ms that the first one takes.
    expect(reads).toBeLessThan(created.length / 2);
  });
});

describeApplication('the values of API keys', options, ({ app }) => {
  const TOO_MANY = Array.from({ length: 51 }, (_, i) => `s${i}`);
  const NO_SCOPES = ['*', 'orders:*', 'a b', '', 1, 'x'.repeat(65), 'é', 'a\n'];

  it.each<[property: keyof NewApiKey, field: string, values: readonly unknown[]]>([
    ['name', 'name', ['', null, 1, 'x'.repeat(101), 'a\nb', 'a\0', '\ud800']],
    ['scopes', 'scopes', [[], null, 'orders:read', TOO_MANY, ...NO_SCOPES.map((name) => [name])]],
    ['expiresAt', 'expires_at', [new Date(NaN), new Date(0), '2999-01-01', 1e15]],
  ])('an invalid value of %s is refused', async (property, field, values) => {
    const fields = { [field]: [expect.any(String)] };
    for (const value of values) {
      const created = createKey(app, { [property]: value });
      await expect(created).rejects.toMatchObject({ code: 'invalid_field', fields });
    }
  });

  it('a missing description is refused, and the largest values are accepted', async () => {
    const principal = await principalOf(app);
    await expect(app.nest.get(ApiKeys).create(principal, null as never)).rejects.toMatchObject({
      code: 'invalid_field',
    });
    const scopes = Array.from({ length: 50 }, (_, i) => `${i}`.padEnd(64, 'x'));
    const { id } = await createKey(app, { name: '🗝'.repeat(100), scopes, expiresAt: new Date(8.64e15) });
    expect(await app.nest.get(ApiKeys).list(principal)).toMatchObject([{ id, scopes }]);
  });

  it.each([
    [['orders'], ['orders:read']],
    [['orders:read:all'], ['orders:read']],
    [['Orders:Read'], ['orders:read']],
    [['orders:read'], ['orders:read', 'orders:write']],
    [['orders:read', 'orders:read'], ['orders:write']],
    [['constructor'], ['__proto__'.replaceAll('_', '')]],
  ])('a key with the scopes %j does not have %j', async (scopes, required) => {
    const { key, scopes: stored } = await createKey(app, { scopes });
    expect(stored).toEqual([...new Set(scopes)]);
    await expect(app.nest.get(ApiKeys).authenticate(key, required)).rejects.toMatchObject({
      code: 'insufficient_scope',
    });
  });

  it('code that requires no scope, or an invalid one, is refused', async () => {
    const { key } = await createKey(app);
    for (const scopes of [[], ['*'], undefined as never]) {
      await expect(app.nest.get(ApiKeys).authenticate(key, scopes)).rejects.toThrow('The scopes of an API key are');
      expect(() => AllowApiKey(...(scopes ?? []))).toThrow('Must be a list of 1 to 50 names');
    }
  });
});
