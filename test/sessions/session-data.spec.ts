import type { AuthPrincipal, SessionDataPatch } from 'nestjs-session-auth';
import { DAY } from '../support/driven-clock';
import { describeOnEachDatabase } from '../support/environment';
import type { TestApplication } from '../support/test-application';

const INVALID_TOKEN = { code: 'access_token_invalid' };

const principalOf = async (app: TestApplication, token: string): Promise<AuthPrincipal> =>
  (await app.auth.authenticate(token))!;

/** A patch with keys that `SessionData` does not declare. */
const patch = (keys: object): SessionDataPatch => keys;

describeOnEachDatabase('updateSessionData', {}, (env) => {
  const open = async (data = {}): Promise<{ principal: AuthPrincipal; accessToken: string }> => {
    const { accessToken } = await env.app.auth.openSession(await env.app.userId(), {}, { methods: ['pwd'], data });
    return { principal: await principalOf(env.app, accessToken), accessToken };
  };

  it('a patch sets and removes keys for the next request of every instance, and changes no token and no proof', async () => {
    const other = await env.start();
    const { principal, accessToken } = await open({ tenant: 'first', locale: 'fr' });
    env.app.clock.advance(1000);
    const changed = await env.app.auth.updateSessionData(principal, patch({ tenant: 'Ångström 🦊', locale: null }));
    expect(changed).toEqual({ tenant: 'Ångström 🦊' });
    const next = await principalOf(other, accessToken);
    expect(next.data).toEqual(changed);
    expect([next.authenticatedAt, next.methods]).toEqual([principal.authenticatedAt, principal.methods]);
    expect(await other.auth.updateSessionData(next, patch({ tenant: null, absent: null }))).toEqual({});
    expect(await other.auth.updateSessionData(next, {})).toEqual({});
  });

  it('parallel patches by two instances lose no key', async () => {
    const { principal, accessToken } = await open();
    const apps = [env.app, await env.start()];
    const keys = Array.from({ length: 10 }, (_, i) => `key${i}`);
    await Promise.all(keys.map((key, i) => apps[i % 2]!.auth.updateSessionData(principal, patch({ [key]: i }))));
    const { data } = await principalOf(env.app, accessToken);
    expect(data).toEqual(Object.fromEntries(keys.map((key, i) => [key, i])));
  });

  it('a patch fails with 503 after the data has changed ten times between its read and its write', async () => {
    if (env.name === 'sqlite') return; // A hook cannot wait within a statement of SQLite.
    const { principal } = await open();
    let writes = 0;
    const other = await env.start();
    env.tap.hook = {
      before: async ({ kind, sql }) => {
        if (kind !== 'statement' || !/^UPDATE/.test(sql)) return;
        await other.auth.updateSessionData(principal, patch({ counter: ++writes }));
      },
    };
    const changing = env.app.auth.updateSessionData(principal, patch({ tenant: 'lost' }));
    await expect(changing).rejects.toMatchObject({ code: 'busy', status: 503 });
    expect(writes).toBe(10);
    expect(JSON.parse((await env.app.storedSession(principal.sessionId)).data!)).toEqual({ counter: 10 });
  });

  it('a patch takes part in the transaction of the application, reads the data of its commit, and is rolled back with it', async () => {
    const { principal, accessToken } = await open({ tenant: 'first' });
    const { dataSource, auth } = env.app;
    const failed = dataSource.transaction(async (manager) => {
      await auth.inTransaction(manager).updateSessionData(principal, patch({ tenant: 'second' }));
      throw new Error('rolled back');
    });
    await expect(failed).rejects.toThrow('rolled back');
    expect((await principalOf(env.app, accessToken)).data).toEqual({ tenant: 'first' });
    // SQLite has one connection, and so one transaction at a time.
    const keys = env.name === 'sqlite' ? ['a'] : ['a', 'b', 'c'];
    const change = (key: string): Promise<unknown> =>
      dataSource.transaction(async (manager) => {
        await manager.query('SELECT COUNT(*) FROM auth_sessions'); // begins a snapshot on MariaDB
        return auth.inTransaction(manager).updateSessionData(principal, patch({ [key]: 1 }));
      });
    await Promise.all(keys.map(change));
    const { data } = await principalOf(env.app, accessToken);
    expect(data).toEqual({ tenant: 'first', ...Object.fromEntries(keys.map((key) => [key, 1])) });
  });

  it('a key with null is removed from the data of a new session too', async () => {
    expect((await open({ tenant: 'first', team: null })).principal.data).toEqual({ tenant: 'first' });
  });

  it('the data of a session that has ended or expired cannot be changed', async () => {
    const [ended, expired] = [await open(), await open()];
    await env.app.auth.logout(ended.principal);
    await expect(env.app.auth.updateSessionData(ended.principal, {})).rejects.toMatchObject(INVALID_TOKEN);
    env.app.clock.advance(31 * DAY);
    const changing = env.app.auth.updateSessionData(expired.principal, patch({ tenant: 'late' }));
    await expect(changing).rejects.toMatchObject({ ...INVALID_TOKEN, status: 401 });
    expect((await env.app.storedSession(expired.principal.sessionId)).data).toBe('{}');
    const former = { userId: 'alice', roles: [], realm: null, formerToken: { issuedAt: new Date(0) } };
    const external = env.app.auth.updateSessionData(former as never, {});
    await expect(external).rejects.toMatchObject({ code: 'session_required' });
  });

  it('a patch after which the data would exceed 1,024 bytes, or that JSON would change, changes nothing', async () => {
    const { principal, accessToken } = await open({ first: 'x'.repeat(600) });
    const change = (given: unknown): Promise<unknown> => env.app.auth.updateSessionData(principal, given as never);
    await expect(change({ second: 'x'.repeat(600) })).rejects.toThrow('which is more than 1024');
    for (const given of ['text', ['text'], null, undefined, { tenant: undefined }, { tenant: new Date(0) }]) {
      await expect(change(given)).rejects.toThrow('data cannot be stored as JSON');
    }
    expect((await principalOf(env.app, accessToken)).data).toEqual({ first: 'x'.repeat(600) });
  });

  it.each(['{ "__proto__": { "isAdmin": true } }', '{ "nested": [{ "__proto__": { "isAdmin": true } }] }'])(
    'a patch with a prototype is refused: %s',
    async (json) => {
      const { principal, accessToken } = await open();
      const given = JSON.parse(json) as SessionDataPatch;
      await expect(env.app.auth.updateSessionData(principal, given)).rejects.toThrow('without a key __proto__');
      await env.app.auth.updateSessionData(principal, patch({ constructor: { prototype: { isAdmin: true } } }));
      const { data } = await principalOf(env.app, accessToken);
      expect(Object.keys(data)).toEqual(['constructor']);
      expect([data, {}].map((one) => 'isAdmin' in one)).toEqual([false, false]);
    },
  );
});
