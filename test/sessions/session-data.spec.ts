import type { SessionDataPatch } from 'nestjs-session-auth';
import { DAY } from '../support/driven-clock';
import { describeOnEachDatabase } from '../support/environment';

declare module 'nestjs-session-auth' {
  interface SessionData {
    tenant: string;
    roles: string[];
  }
}

const INVALID_TOKEN = { code: 'access_token_invalid', status: 401 };

const CYCLIC: { tenant?: unknown } = {};
CYCLIC.tenant = [CYCLIC];

/** Data that JSON would change. */
const UNSTORABLE = [
  ...['text', ['text'], null, new (class Tenant {})()],
  ...[new Date(0), undefined, Infinity, CYCLIC].map((tenant) => ({ tenant })),
];

/** A patch with keys that `SessionData` does not declare. */
const patch = (keys: object): SessionDataPatch => keys;

describeOnEachDatabase('the data of a session', {}, ({ app, name, start, tap }) => {
  const open = async (data: unknown = {}) => {
    const opened = await app.auth.openSession(await app.userId(), {}, { methods: ['pwd'], data: data as never });
    return { ...opened, principal: await app.principal(opened.accessToken) };
  };
  const dataOf = async (accessToken: string): Promise<object> => (await app.principal(accessToken)).data;

  it('a session keeps the data with which the application opened it, through refreshes, and has an empty object without data', async () => {
    const data = { tenant: 'Ångström \u0000 🦊', roles: ['admin'] };
    const { refreshToken } = await open({ ...data, team: null });
    expect(await dataOf((await app.auth.refresh(refreshToken)).accessToken)).toEqual(data);
    expect(await dataOf((await app.login()).access_token)).toEqual({});
  });

  it('session data may have at most 1,024 bytes of UTF-8, also after a patch, and nothing that JSON would change', async () => {
    const tenant = 'é'.repeat((1024 - '{"tenant":""}'.length - 1) / 2);
    const largest = { tenant: `${tenant}a` };
    const { principal, accessToken } = await open(largest);
    await expect(open({ tenant: `${tenant}ab` })).rejects.toThrow(
      'data has 1025 bytes as JSON, which is more than 1024',
    );
    const change = (given: unknown) => app.auth.updateSessionData(principal, given as never);
    await expect(change({ second: '' })).rejects.toThrow('which is more than 1024');
    for (const data of UNSTORABLE) {
      for (const storing of [open(data), change(data)])
        await expect(storing).rejects.toThrow('data cannot be stored as JSON');
    }
    expect(await dataOf(accessToken)).toEqual(largest);
  });

  it('a patch sets and removes keys for the next request of every instance, and changes no token and no proof', async () => {
    const other = await start();
    const { principal, accessToken } = await open({ tenant: 'first', locale: 'fr' });
    app.clock.advance(1000);
    const changed = await app.auth.updateSessionData(principal, patch({ tenant: 'Ångström 🦊', locale: null }));
    expect(changed).toEqual({ tenant: 'Ångström 🦊' });
    const next = await other.principal(accessToken);
    expect([next.data, next.authenticatedAt]).toEqual([changed, principal.authenticatedAt]);
    expect(next.methods).toEqual(principal.methods);
    expect(await other.auth.updateSessionData(next, patch({ tenant: null, absent: null }))).toEqual({});
    expect(await other.auth.updateSessionData(next, {})).toEqual({});
  });

  it('parallel patches by two instances lose no key', async () => {
    const { principal, accessToken } = await open();
    const apps = [app, await start()];
    const keys = Array.from({ length: 10 }, (_, i) => `key${i}`);
    await Promise.all(keys.map((key, i) => apps[i % 2]!.auth.updateSessionData(principal, patch({ [key]: i }))));
    expect(await dataOf(accessToken)).toEqual(Object.fromEntries(keys.map((key, i) => [key, i])));
  });

  it('a patch fails with 503 after the data has changed ten times between its read and its write', async () => {
    if (name === 'sqlite') return; // A hook cannot wait within a statement of SQLite.
    const { principal, accessToken } = await open();
    let writes = 0;
    const other = await start();
    tap.hook = {
      before: async ({ kind, sql }) => {
        if (kind !== 'statement' || !/^UPDATE/.test(sql)) return;
        await other.auth.updateSessionData(principal, patch({ counter: ++writes }));
      },
    };
    const changing = app.auth.updateSessionData(principal, patch({ tenant: 'lost' }));
    await expect(changing).rejects.toMatchObject({ code: 'busy', status: 503 });
    expect(writes).toBe(10);
    expect(await dataOf(accessToken)).toEqual({ counter: 10 });
  });

  it('a patch takes part in the transaction of the application, reads the data of its commit, and is rolled back with it', async () => {
    const { principal, accessToken } = await open({ tenant: 'first' });
    const failed = app.dataSource.transaction(async (manager) => {
      await app.auth.inTransaction(manager).updateSessionData(principal, patch({ tenant: 'second' }));
      throw new Error('rolled back');
    });
    await expect(failed).rejects.toThrow('rolled back');
    expect(await dataOf(accessToken)).toEqual({ tenant: 'first' });
    // SQLite has one connection, and so one transaction at a time.
    const keys = name === 'sqlite' ? ['a'] : ['a', 'b', 'c'];
    const change = (key: string): Promise<unknown> =>
      app.dataSource.transaction(async (manager) => {
        await manager.query('SELECT COUNT(*) FROM auth_sessions'); // begins a snapshot on MariaDB
        return app.auth.inTransaction(manager).updateSessionData(principal, patch({ [key]: 1 }));
      });
    await Promise.all(keys.map(change));
    expect(await dataOf(accessToken)).toEqual({ tenant: 'first', ...Object.fromEntries(keys.map((key) => [key, 1])) });
  });

  it('the data of a session that has ended or expired cannot be changed', async () => {
    const [ended, expired] = [await open(), await open()];
    await app.auth.logout(ended.principal);
    await expect(app.auth.updateSessionData(ended.principal, {})).rejects.toMatchObject(INVALID_TOKEN);
    app.clock.advance(31 * DAY);
    const changing = app.auth.updateSessionData(expired.principal, patch({ tenant: 'late' }));
    await expect(changing).rejects.toMatchObject(INVALID_TOKEN);
    expect((await app.storedSession(expired.sessionId)).data).toBe('{}');
    const former = { userId: 'alice', roles: [], realm: null, formerToken: { issuedAt: new Date(0) } };
    const external = app.auth.updateSessionData(former as never, {});
    await expect(external).rejects.toMatchObject({ code: 'session_required' });
  });

  it.each(['{ "__proto__": { "isAdmin": true } }', '{ "nested": [{ "__proto__": { "isAdmin": true } }] }'])(
    'a patch with a prototype is refused: %s',
    async (json) => {
      const { principal, accessToken } = await open();
      const given = JSON.parse(json) as SessionDataPatch;
      await expect(app.auth.updateSessionData(principal, given)).rejects.toThrow('without a key __proto__');
      await app.auth.updateSessionData(principal, patch({ constructor: { prototype: { isAdmin: true } } }));
      const data = await dataOf(accessToken);
      expect(Object.keys(data)).toEqual(['constructor']);
      expect([data, {}].map((one) => 'isAdmin' in one)).toEqual([false, false]);
    },
  );
});
