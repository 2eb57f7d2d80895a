import { Controller, Get } from '@nestjs/common';
import {
  AllowApiKey,
  ApiKeys,
  AuthApiKey,
  type AuthErrorCode,
  AuthUser,
  type NewApiKey,
  SessionAdministration,
} from 'nestjs-session-auth';
import { Database } from '../../libs/auth/src/database/database';
import { Users } from '../../libs/auth/src/users/users';
import { createKey, principalOf } from '../support/api-keys';
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
const keysOf = (app: TestApplication): ApiKeys => app.nest.get(ApiKeys);
const administrationOf = (app: TestApplication) => app.nest.get(SessionAdministration);
const storedKeys = (app: TestApplication): Promise<AuthApiKey[]> => app.dataSource.getRepository(AuthApiKey).find();

/** Returns the recorded ends of keys. */
async function revocationsOf(app: TestApplication, username = 'alice'): Promise<object[]> {
  const events = await app.auth.history(await app.userId(username), { event: ['api_key_revoked'] });
  return events.map(({ extra }) => extra);
}

type End = (app: TestApplication, userId: string, keyId: string) => Promise<unknown>;

/** The ways in which a key ends, with the recorded reason. */
const ENDS: readonly (readonly [title: string, reason: string | null, end: End])[] = [
  ['its user revokes it', 'user', (app, userId, id) => keysOf(app).revoke(userId, id.toUpperCase())],
  ['an administrator revokes it', 'admin', (app, userId, id) => keysOf(app).revoke(userId, id, {}, { actor: 'root' })],
  ['it expires', null, async (app) => app.clock.advance(DAY)],
  ['its user is disabled', 'user_disabled', ({ auth }, userId) => auth.disableUser(userId)],
  ['the password is reset', 'password_reset', ({ auth }, userId) => auth.resetPassword(userId, NEW_PASSWORD)],
  ['a refresh token is reused', 'token_reuse', (app) => reuse(app)],
  ['its user is forgotten', null, ({ auth }, userId) => auth.forgetUser(userId)],
  ['its user is disabled in the table', 'user_disabled', (app) => useWhileDisabled(app)],
  ['its user was disabled in the table and is enabled', 'user_disabled', enableAfterTable],
];

async function reuse(app: TestApplication): Promise<void> {
  const { refresh_token: token } = await app.login();
  await app.refresh(token).expect(200);
  await app.refresh(token).expect(400);
}

let current: string;

async function useWhileDisabled(app: TestApplication): Promise<void> {
  await app.setActive('alice', false);
  await app.get('/orders', current).expect(401, INVALID);
}

async function enableAfterTable(app: TestApplication, userId: string): Promise<void> {
  await app.setActive('alice', false);
  await app.auth.enableUser(userId);
}

describeOnEachDatabase('API keys', options, (env) => {
  beforeEach(async () => {
    await env.app.setActive('alice', true);
    await restorePassword(env.app);
  });

  it('a key is returned once, and the database has its digest but not its secret', async () => {
    const { app } = env;
    const expiresAt = new Date(app.clock.now() + DAY);
    const { key, ...info } = await createKey(app, { name: 'Exportação 🗝', expiresAt });
    const created = { createdAt: new Date(app.clock.now()), expiresAt, lastUsedAt: null };
    expect(info).toEqual({
      id: expect.stringMatching(UUID),
      name: 'Exportação 🗝',
      scopes: ['orders:read'],
      ...created,
    });
    const second = await createKey(app);
    const userId = await app.userId();
    expect(key).toMatch(/^nsak_[A-Za-z0-9_-]{64}[A-Za-z0-9]{6}$/);
    expect(Buffer.from(key.slice(5), 'base64url').toString('hex', 0, 16)).toBe(info.id.replaceAll('-', ''));
    const { key: otherKey, ...other } = second;
    const listed = [other, info];
    expect(otherKey).not.toBe(key);
    expect(await keysOf(app).list(userId)).toEqual(expect.arrayContaining(listed));
    const { apiKeys } = await app.auth.exportUserData(userId);
    expect(apiKeys).toEqual(await keysOf(app).list({ userId }));
    const stored = JSON.stringify([await storedKeys(app), await app.auth.exportUserData(userId)]);
    expect(stored).not.toContain(key.slice(27, 60));
    const [created_] = await app.auth.history(userId, { event: ['api_key_created'] });
    expect(created_?.extra).toEqual({ key_id: second.id, name: 'export', scopes: ['orders:read'] });
    expect(await keysOf(app).list(await app.userId('bob'))).toEqual([]);
  });

  it.each(ENDS)('a key ends when %s', async (_, reason, end) => {
    const { app } = env;
    const userId = await app.userId();
    const { key, id } = await createKey(app, { expiresAt: new Date(app.clock.now() + DAY) });
    const bob = await createKey(app, {}, 'bob');
    current = key;
    await app.get('/orders', key).expect(200);
    await end(app, userId, id);
    await app.get('/orders', key).expect(401, INVALID);
    expect(await keysOf(app).list(userId)).toEqual([]);
    const recorded = { key_id: id, name: 'export', reason, ...(reason === 'admin' ? { actor: 'root' } : {}) };
    expect(await revocationsOf(app)).toEqual(reason === null ? [] : [recorded]);
    await app.setActive('alice', true);
    await app.get('/orders', key).expect(401, INVALID);
    await app.get('/orders', bob.key).expect(200);
  });

  it('the key of a user who was deleted in the table ends at its next use', async () => {
    const { app } = env;
    const { id } = await app.auth.createUser({ username: 'carol', password: PASSWORD });
    const { key } = await createKey(app, {}, 'carol');
    await app.dataSource.getRepository(AuthUser).delete({ id: String(id) });
    await app.get('/orders', key).expect(401, INVALID);
    expect(await storedKeys(app)).toEqual([]);
  });

  it('a password change ends keys only with revokeApiKeysOnPasswordChange, and logout/all and the end of sessions never do', async () => {
    const { app } = env;
    const strict = await env.start({ auth: { revokeApiKeysOnPasswordChange: true, revokeOnPasswordChange: false } });
    const userId = await app.userId();
    const { key } = await createKey(app);
    const change = async ({ auth }: TestApplication, currentPassword: string, newPassword: string) =>
      auth.changePassword(await principalOf(app), { currentPassword, newPassword });
    await change(app, PASSWORD, NEW_PASSWORD);
    await app.auth.endSessions(userId);
    await administrationOf(app).end({ userId }, { actor: 'root' });
    await app.get('/orders', key).expect(200);
    await change(strict, NEW_PASSWORD, PASSWORD);
    await app.get('/orders', key).expect(401, INVALID);
    expect(await revocationsOf(app)).toMatchObject([{ reason: 'password_change' }]);
  });

  it('pruning removes expired keys, and a revoked or expired key cannot be revoked again', async () => {
    const { app } = env;
    const userId = await app.userId();
    const [expiring, kept] = [await createKey(app, { expiresAt: new Date(app.clock.now() + 1) }), await createKey(app)];
    app.clock.advance(1);
    const missing = { code: 'api_key_not_found', message: 'API key not found.' };
    for (const id of [expiring.id, 'x', undefined as never])
      await expect(keysOf(app).revoke(userId, id)).rejects.toMatchObject(missing);
    const { id: other } = await createKey(app);
    await expect(keysOf(app).revoke(await app.userId('bob'), kept.id)).rejects.toMatchObject(missing);
    expect(await app.auth.exportUserData(userId)).toMatchObject({ apiKeys: [{ id: other }, { id: kept.id }] });
    await createKey(app, { expiresAt: new Date(app.clock.now() + 1) });
    app.clock.advance(1);
    expect(await app.pruning.prune({ dryRun: true })).toMatchObject({ apiKeys: 1 });
    expect(await app.pruning.prune()).toMatchObject({ apiKeys: 1 });
    expect((await storedKeys(app)).map(({ id }) => id).sort()).toEqual([kept.id, other].sort());
  });

  it('a user has at most 100 keys that have not expired, also when keys are created in parallel', async () => {
    const { app } = env;
    const principal = await principalOf(app);
    const { userId } = principal;
    const row = { userId: String(userId), name: 'x', scopes: '["a"]', digest: 'x', createdAt: app.clock.now() };
    const rows = Array.from({ length: 99 }, (_, i) => ({ ...row, id: `key ${i}`, expiresAt: i < 2 ? 1 : null }));
    await app.dataSource.getRepository(AuthApiKey).insert(rows);
    const create = (): Promise<unknown> => keysOf(app).create(principal, { name: 'x', scopes: ['a'] });
    const results = await Promise.allSettled([create(), create(), create(), create(), create()]);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    await expect(create()).rejects.toMatchObject({ code: 'api_key_limit_reached' });
    expect(await storedKeys(app)).toHaveLength(100);
  });

  const revocations: [string, AuthErrorCode, (app: TestApplication, userId: string) => Promise<unknown>][] = [
    ['the session has ended', 'access_token_invalid', ({ auth }, userId) => auth.endSessions(userId)],
    ['the user is disabled', 'access_token_invalid', ({ auth }, userId) => auth.disableUser(userId)],
    ['the login is 10 minutes old', 'recent_login_required', async (app) => app.clock.advance(10 * MINUTE)],
  ];

  it.each(revocations)('no key is created after %s', async (_, code, end) => {
    const { app } = env;
    const principal = await principalOf(app);
    await end(app, String(principal.userId));
    await expect(keysOf(app).create(principal, { name: 'x', scopes: ['a'] })).rejects.toMatchObject({ code });
    expect(await storedKeys(app)).toEqual([]);
    await app.auth.enableUser(principal.userId);
  });

  it('an administrator creates no key for a user who is disabled meanwhile, or does not exist', async () => {
    const { app } = env;
    const users = app.nest.get(Users);
    const userId = await app.userId();
    const given = { name: 'import', scopes: ['orders:write'] };
    const create = (id = userId, actor = 'root') => administrationOf(app).createApiKey(id, given, { actor });
    const findById = users.findById.bind(users);
    const find = jest.spyOn(users, 'findById').mockImplementationOnce(async (...args) => {
      const user = await findById(...args);
      await app.auth.disableUser(userId);
      return user;
    });
    await expect(create()).rejects.toMatchObject({ code: 'unknown_user' });
    find.mockRestore();
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
    const { app } = env;
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
    const { app, tap } = env;
    const { key } = await createKey(app);
    const other = await createKey(app);
    await keysOf(app).revoke(await app.userId(), other.id);
    const { access_token } = await app.login();
    const statements = async (token: string): Promise<string[]> => {
      const sent: string[] = [];
      tap.hook = { before: ({ kind, sql }) => void (kind === 'statement' && sent.push(sql)) };
      await app.get('/orders', token);
      return sent;
    };
    const wrong = forge(key);
    await app.get('/orders', wrong).expect(401, INVALID);
    expect(await statements(other.key)).toEqual(await statements(wrong));
    expect(await statements(wrong)).toEqual([expect.stringMatching(/^SELECT .*auth_api_keys/s)]);
    expect(await statements(`${key}x`)).toEqual([]);
    expect((await statements(access_token)).join()).not.toContain('auth_api_keys');
  });

  it('keys that are used at the same time share statements', async () => {
    const { app, tap } = env;
    const keys = [];
    for (let i = 0; i < 20; i++) keys.push(await createKey(app, { scopes: [`scope${i}`] }));
    let reads = 0;
    tap.hook = { before: ({ sql }) => void (/^SELECT .*auth_api_keys/s.test(sql) && reads++) };
    const found = await Promise.all(keys.map(({ key }, i) => keysOf(app).authenticate(key, [`scope${i}`])));
    expect(found.map(({ apiKey }) => apiKey?.id)).toEqual(keys.map(({ id }) => id));
    // Two, and one more for each 50 ms that the first one takes.
    expect(reads).toBeLessThan(keys.length / 2);
  });
});

/** Returns a well-formed key with the id of another one. */
function forge(key: string): string {
  const { crc32 } = jest.requireActual<{ crc32: (text: string) => number }>('node:zlib');
  const body = `${key.slice(0, 30)}${'A'.repeat(39)}`;
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  let checksum = '';
  for (let rest = crc32(body), i = 0; i < 6; i++, rest = Math.floor(rest / 62))
    checksum = digits[rest % 62]! + checksum;
  return body + checksum;
}

describeApplication('the values of API keys', options, (env) => {
  const invalid: [field: string, given: Partial<Record<keyof NewApiKey, unknown>>][] = [
    ...['', null, 1, 'x'.repeat(101), 'a\nb', 'a\0', '\ud800'].map((name): [string, object] => ['name', { name }]),
    ...[[], null, 'orders:read', ['*'], ['orders:*'], ['a b'], [''], [1], ['x'.repeat(65)], ['é'], ['a\n']].map(
      (scopes): [string, object] => ['scopes', { scopes }],
    ),
    ['scopes', { scopes: Array.from({ length: 51 }, (_, i) => `s${i}`) }],
    ...[new Date(NaN), new Date(0), '2999-01-01', 1e15].map((expiresAt): [string, object] => [
      'expires_at',
      { expiresAt },
    ]),
  ];

  it.each(invalid)('an invalid %s is refused: %j', async (field, given) => {
    const fields = { [field]: [expect.any(String)] };
    await expect(createKey(env.app, given as never)).rejects.toMatchObject({ code: 'invalid_field', fields });
  });

  it('a missing description is refused, and the largest values are accepted', async () => {
    const { app } = env;
    const principal = await principalOf(app);
    await expect(keysOf(app).create(principal, null as never)).rejects.toMatchObject({ code: 'invalid_field' });
    const scopes = Array.from({ length: 50 }, (_, i) => `${i}`.padEnd(64, 'x'));
    const { id } = await createKey(app, { name: '🗝'.repeat(100), scopes, expiresAt: new Date(8.64e15) });
    expect(await keysOf(app).list(principal)).toMatchObject([{ id, scopes }]);
  });

  const confusions: [has: string[], required: string[]][] = [
    [['orders'], ['orders:read']],
    [['orders:read:all'], ['orders:read']],
    [['Orders:Read'], ['orders:read']],
    [['orders:read'], ['orders:read', 'orders:write']],
    [['orders:read', 'orders:read'], ['orders:write']],
    [['constructor'], ['__proto__'.replaceAll('_', '')]],
  ];

  it.each(confusions)('a key with the scopes %j does not have %j', async (scopes, required) => {
    const { app } = env;
    const { key, scopes: stored } = await createKey(app, { scopes });
    expect(stored).toEqual([...new Set(scopes)]);
    await expect(keysOf(app).authenticate(key, required)).rejects.toMatchObject({ code: 'insufficient_scope' });
  });

  it('code that requires no scope, or an invalid one, is refused', async () => {
    const { app } = env;
    const { key } = await createKey(app);
    for (const scopes of [[], ['*'], undefined as never]) {
      await expect(keysOf(app).authenticate(key, scopes)).rejects.toThrow('The scopes of an API key are');
      expect(() => AllowApiKey(...(scopes ?? []))).toThrow('Must be a list of 1 to 50 names');
    }
  });
});
