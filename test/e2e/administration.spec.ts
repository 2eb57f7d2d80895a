import { SessionAdministration } from 'nestjs-session-auth';
import { DAY, HOUR } from '../support/driven-clock';
import type { Host } from '../support/host';
import { historyOf, storedEnd, stories, type Stage } from './stories';

const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1';
const administer = (host: Host): SessionAdministration => host.app.get(SessionAdministration);

async function idOf(host: Host, username: string): Promise<string> {
  return (await host.dataSource.query(`SELECT id FROM auth_users WHERE username = '${username}'`))[0].id;
}

stories('an administrator', { users: ['alice', 'bob', 'carol'] }, (at: Stage) => {
  const open = async (username: string, ipAddress = '192.0.2.1', userAgent = 'test'): Promise<string> => {
    const id = await idOf(at.host, username);
    return (await at.host.auth.openSession(id, { ipAddress, userAgent })).sessionId;
  };

  it('lists the active sessions of all users, in pages that hold each once', async () => {
    const { host } = at;
    const ids = [await open('alice'), await open('bob'), await open('carol'), await open('alice'), await open('bob')];
    await host.auth.revokeSession(await idOf(host, 'carol'), ids[2]!);
    const seen: string[] = [];
    let after: string | undefined;
    do {
      const page = await administer(host).list({}, { limit: 2, ...(after ? { after } : {}) });
      seen.push(...page.items.map(({ id }) => id));
      after = page.next ?? undefined;
    } while (after !== undefined);
    expect(seen).toEqual(ids.filter((_, index) => index !== 2).sort());
    const { items } = await administer(host).list({ userId: await idOf(host, 'bob') });
    expect(items).toMatchObject([{ userId: await idOf(host, 'bob'), state: 'active', ipAddress: '192.0.2.1' }, {}]);
  });

  it('finds sessions by age, activity, address and device', async () => {
    const { host } = at;
    const old = await open('alice', '2001:db8::1', IPHONE);
    host.clock.advance(2 * DAY);
    const since = new Date(host.clock.now() - HOUR);
    const young = await open('bob');
    const found = async (filter: object): Promise<string[]> =>
      (await administer(host).list(filter)).items.map(({ id }) => id);
    expect(await found({ createdBefore: since })).toEqual([old]);
    expect(await found({ inactiveSince: since })).toEqual([old]);
    expect(await found({ ipAddress: '2001:0DB8:0::1' })).toEqual([old]);
    expect(await found({ deviceType: 'mobile', osFamily: 'iOS', browserFamily: 'Mobile Safari' })).toEqual([old]);
    expect(await found({ deviceType: 'other' })).toEqual([young]);
    expect(await found({ deviceType: 'mobile', ipAddress: '192.0.2.1' })).toEqual([]);
    host.clock.advance(5 * DAY);
    expect(await found({ createdBefore: since })).toEqual([]);
  });

  it('ends the sessions that match a filter and no others, and is recorded as the actor', async () => {
    const { host } = at;
    const alice = await host.login();
    const bob = await host.login('bob');
    const id = await idOf(host, 'alice');
    const ended = await administer(host).end(
      { userId: id },
      { actor: 'carol (support)', client: { ipAddress: '192.0.2.8' } },
    );
    expect(ended).toBe(1);
    await host.get('/me', alice.access_token).expect(401);
    await host.refresh(alice.refresh_token).expect(400);
    await host.get('/me', bob.access_token).expect(200);
    expect(await storedEnd(host, alice.session_id)).toEqual({ state: 'revoked', end_reason: 'admin' });
    expect(host.sent('user_logged_out')).toMatchObject([{ userId: id, reason: 'admin' }]);
    const { access_token: token } = await host.login();
    const entry = (await historyOf(host, token)).find(({ event }) => event === 'session_revoked');
    expect(entry).toMatchObject({
      ip_address: '192.0.2.8',
      extra: { session_id: alice.session_id, reason: 'admin', actor: 'carol (support)' },
    });
    expect(await administer(host).end({ userId: '00000000-0000-4000-8000-000000000000' }, { actor: 'carol' })).toBe(0);
  });

  it('is recorded as the actor who ended a single session too', async () => {
    const { host } = at;
    const sessionId = await open('alice');
    const options = { by: 'admin', actor: 'carol' } as const;
    await host.auth.revokeSession(await idOf(host, 'alice'), sessionId, {}, options);
    const { items } = await administer(host).history(await idOf(host, 'alice'));
    expect(items[0]).toMatchObject({ extra: { session_id: sessionId, reason: 'admin', actor: 'carol' } });
  });

  it('ends all sessions of all users, in more than one batch, while users log out', async () => {
    const { host } = at;
    const ids = [await idOf(host, 'alice'), await idOf(host, 'bob')];
    for (let i = 0; i < 450; i++) await host.auth.openSession(ids[i % 2]!);
    const session = await host.login('carol');
    const principal = (await host.auth.authenticate(session.access_token))!;
    const [ended] = await Promise.all([
      administer(host).end({ everyone: true }, { actor: 'carol' }),
      host.auth.logoutAll(principal),
      host.auth.logoutAll(principal),
    ]);
    expect([450, 451]).toContain(ended);
    expect((await administer(host).list()).items).toEqual([]);
    expect(host.sent('user_logged_out')).toHaveLength(451);
  });

  it('reads the history of any user in pages', async () => {
    const { host } = at;
    for (let i = 0; i < 5; i++) await open('alice');
    const id = await idOf(host, 'alice');
    const ids: number[] = [];
    let after: string | undefined;
    do {
      const page = await administer(host).history(id, { limit: 2, ...(after ? { after } : {}) });
      ids.push(...page.items.map((entry) => entry.id));
      after = page.next ?? undefined;
    } while (after !== undefined);
    expect(ids).toHaveLength(5);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => b - a));
  });

  it('learns from `next` whether there is another page, also behind a full one', async () => {
    const { host } = at;
    for (let i = 0; i < 4; i++) await open('alice');
    const id = await idOf(host, 'alice');
    const pages = async (limit: number): Promise<(string | null)[]> => [
      (await administer(host).list({}, { limit })).next,
      (await administer(host).history(id, { limit })).next,
    ];
    expect(await pages(4)).toEqual([null, null]);
    expect(await pages(3)).toEqual([expect.any(String), expect.any(String)]);
    const { next } = await administer(host).list({}, { limit: 2 });
    const second = await administer(host).list({}, { limit: 2, after: next! });
    expect([second.items.length, second.next]).toEqual([2, null]);
    expect((await administer(host).list({ userId: await idOf(host, 'bob') }, { limit: 1 })).next).toBeNull();
  });

  it.each(['xyz', '', '1', "' OR 1=1"])('cannot read a page after %j', async (after) => {
    const id = await idOf(at.host, 'alice');
    const wrong = { code: 'invalid_field', fields: { after: ['Pass the `next` of a page.'] } };
    await expect(administer(at.host).list({}, { after })).rejects.toMatchObject(wrong);
    if (after !== '1') await expect(administer(at.host).history(id, { after })).rejects.toMatchObject(wrong);
  });

  it('cannot end sessions with an empty or invalid filter', async () => {
    const { host } = at;
    await open('alice');
    const by = { actor: 'carol' };
    const wrong = { code: 'invalid_field' };
    await expect(administer(host).end({}, by)).rejects.toMatchObject(wrong);
    await expect(administer(host).end({ userId: undefined } as never, by)).rejects.toMatchObject(wrong);
    await expect(administer(host).end({ ipAddress: 'x' }, by)).rejects.toMatchObject(wrong);
    await expect(administer(host).end({ createdBefore: new Date(NaN) }, by)).rejects.toMatchObject(wrong);
    await expect(administer(host).end({ everyone: true }, { actor: '' })).rejects.toMatchObject(wrong);
    for (const everyone of [false, undefined, 'yes'] as never[]) {
      await expect(administer(host).end({ everyone }, by)).rejects.toMatchObject(wrong);
    }
    await expect(administer(host).end({ everyone: true, userId: 'x' } as never, by)).rejects.toMatchObject(wrong);
    await expect(administer(host).list({}, { limit: 0 })).rejects.toMatchObject(wrong);
    await expect(administer(host).history('x', { after: "1' OR 1=1" })).rejects.toMatchObject(wrong);
    expect((await administer(host).list()).items).toHaveLength(1);
  });

  it('cannot end or list sessions by a criterion that does not exist', async () => {
    const { host } = at;
    await open('alice');
    const misspelt = { createdBefore: new Date(host.clock.now() + 1), ipAdress: '192.0.2.1' } as never;
    const wrong = {
      code: 'invalid_field',
      fields: { ipAdress: [expect.stringMatching(/^Not a criterion\. .*ipAddress/)] },
    };
    await expect(administer(host).end(misspelt, { actor: 'carol' })).rejects.toMatchObject(wrong);
    await expect(administer(host).list(misspelt)).rejects.toMatchObject(wrong);
    expect((await administer(host).list()).items).toHaveLength(1);
  });
});
