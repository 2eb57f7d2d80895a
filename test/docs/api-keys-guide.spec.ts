import type { Type } from '@nestjs/common';
import { ApiKeys, OpenSockets } from 'nestjs-session-auth';
import { EventEmitter } from 'node:events';
import { createKey } from '../support/api-keys';
import { describeHttp } from '../support/environment';
import { blocksUnder } from './code-blocks';
import { codeOf } from './run-block';

const code = codeOf('docs/api-keys.md');
const { OrdersController } = code('## Allow keys on a route');
const { KeysController } = code('## Let users manage their keys');
const { OrdersFeed } = code<Record<string, Type<{ admit(client: object): Promise<void> }>>>('## Other transports');
const { isApiKey, apiKeyId } = code<Record<'isApiKey' | 'apiKeyId', (text: string) => unknown>>('## Find leaked keys');

describeHttp('docs/api-keys.md', { controllers: [OrdersController!, KeysController!] }, ({ app }) => {
  it('a user creates a key, calls a route with it, lists it and revokes it', async () => {
    const { access_token: token } = await app.login();
    const given = { name: 'export', scopes: ['orders:read', 'admin'], days: 7 };
    const { body: created } = await app.post('/keys', token, given).expect(201);
    expect(created).toMatchObject({ name: 'export', scopes: ['orders:read'] });
    const { key, id, ...info } = created as { key: string; id: string };
    await app.get('/orders', key).expect(200, { userId: await app.userId(), key: 'export' });
    await app.post('/orders/import', key).expect(403, /insufficient_scope/);
    const lastUsedAt = expect.any(String) as string;
    expect((await app.get('/keys', token).expect(200)).body).toEqual([{ ...info, id, lastUsedAt }]);
    await app.delete(`/keys/${id}`, token).expect(204);
    await app.get('/orders', key).expect(401);
  });

  it('the route refuses invalid values', async () => {
    const { access_token: token } = await app.login();
    for (const [body, field] of [
      [undefined, 'name'],
      [{ name: 'export' }, 'scopes'],
      [{ name: 'export', scopes: 'admin' }, 'scopes'],
      [{ name: 'export', scopes: 'orders:read', days: 'x' }, 'expires_at'],
    ] as const)
      await app.post('/keys', token, body).expect(400, new RegExp(field));
  });

  it('the class for WebSockets closes a socket when its key is revoked, and does not keep one that has closed before', async () => {
    const { key, id } = await createKey(app);
    const keys = app.nest.get(ApiKeys);
    const close = jest.fn();
    const headers = { authorization: `Bearer ${key}` };
    const fields = { close, handshake: { headers, auth: {} }, request: { headers }, OPEN: 1 };
    const sockets = app.nest.get(OpenSockets);
    const register = jest.spyOn(sockets, 'register');
    for (const readyState of [3, 1])
      await new OrdersFeed!(keys, sockets).admit(Object.assign(new EventEmitter(), fields, { readyState }));
    expect(register).toHaveBeenCalledTimes(1);
    await keys.revoke(await app.userId(), id);
    expect(close).toHaveBeenCalledWith(4401);
    register.mockRestore();
  });

  it('the functions for scanners recognize keys only, and find their ids', async () => {
    const { key, id } = await createKey(app);
    const pattern = new RegExp(blocksUnder('docs/api-keys.md', '## Find leaked keys', 'text')[0]!.code.trim());
    expect(pattern.exec(`token="${key}"`)![0]).toBe(key);
    const keys = [key, `${key.slice(0, -1)}!`, key.replace('nsak_', 'nsaa_'), 'x'].filter(isApiKey);
    expect(keys).toEqual([key]);
    expect(apiKeyId(key)).toBe(id);
  });
});
