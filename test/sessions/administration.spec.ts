import { SessionAdministration } from 'nestjs-session-auth';
import { DAY, HOUR } from '../support/driven-clock';
import type { TestApplication } from '../support/test-application';
import { historyOf, storedEnd, describeOnEachDatabase, type TestEnvironment } from '../support/environment';

const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1';
const administer = (app: TestApplication): SessionAdministration => app.nest.get(SessionAdministration);

async function idOf(app: TestApplication, username: string): Promise<string> {
  return (await app.dataSource.query(`SELECT id FROM auth_users WHERE username = '${username}'`))[0].id;
}

describeOnEachDatabase('administration', { users: ['alice', 'bob', 'carol'] }, (env: TestEnvironment) => {
  const open = async (username: string, ipAddress = '192.0.2.1', userAgent = 'test'): Promise<string> => {
    const id = await idOf(env.app, username);
    return (await env.app.auth.openSession(id, { ipAddress, userAgent })).sessionId;
  };

  it('an administrator lists the active sessions of all users in pages that contain each session once', async () => {
    const { app } = env;
    const ids = [await open('alice'), await open('bob'), await open('carol'), await open('alice'), await open('bob')];
    await app.auth.revokeSession(await idOf(app, 'carol'), ids[2]!);
    const seen: string[] = [];
    let after: string | undefined;
    do {
      const page = await administer(app).list({}, { limit: 2, ...(after ? { after } : {}) });
      seen.push(...page.items.map(({ id }) => id));
      after = page.next ?? undefined;
    } while (after !== undefined);
    expect(seen).toEqual(ids.filter((_, index) => index !== 2).sort());
    const { items } = await administer(app).list({ userId: await idOf(app, 'bob') });
    expect(items).toMatchObject([{ userId: await idOf(app, 'bob'), state: 'active', ipAddress: '192.0.2.1' }, {}]);
  });

  it('an administrator finds sessions by age, activity, address and device', async () => {
    const { app } = env;
    const old = await open('alice', '2001:db8::1', IPHONE);
    app.clock.advance(2 * DAY);
    const since = new Date(app.clock.now() - HOUR);
    const young = await open('bob');
    const found = async (filter: object): Promise<string[]> =>
      (await administer(app).list(filter)).items.map(({ id }) => id);
    expect(await found({ createdBefore: since })).toEqual([old]);
    expect(await found({ inactiveSince: since })).toEqual([old]);
    expect(await found({ ipAddress: '2001:0DB8:0::1' })).toEqual([old]);
    expect(await found({ deviceType: 'mobile', osFamily: 'iOS', browserFamily: 'Mobile Safari' })).toEqual([old]);
    expect(await found({ deviceType: 'other' })).toEqual([young]);
    expect(await found({ deviceType: 'mobile', ipAddress: '192.0.2.1' })).toEqual([]);
    app.clock.advance(5 * DAY);
    expect(await found({ createdBefore: since })).toEqual([]);
  });

  it('an administrator ends exactly the sessions that match a filter, and is recorded as the actor', async () => {
    const { app } = env;
    const alice = await app.login();
    const bob = await app.login('bob');
    const id = await idOf(app, 'alice');
    const ended = await administer(app).end(
      { userId: id },
      { actor: 'carol (support)', client: { ipAddress: '192.0.2.8' } },
    );
    expect(ended).toBe(1);
    await app.get('/me', alice.access_token).expect(401);
    await app.refresh(alice.refresh_token).expect(400);
    await app.get('/me', bob.access_token).expect(200);
    expect(await storedEnd(app, alice.session_id)).toEqual({ state: 'revoked', end_reason: 'admin' });
    expect(app.sent('user_logged_out')).toMatchObject([{ userId: id, reason: 'admin' }]);
    const { access_token: token } = await app.login();
    const entry = (await historyOf(app, token)).find(({ event }) => event === 'session_revoked');
    expect(entry).toMatchObject({
      ip_address: '192.0.2.8',
      extra: { session_id: alice.session_id, reason: 'admin', actor: 'carol (support)' },
    });
    expect(await administer(app).end({ userId: '00000000-0000-4000-8000-000000000000' }, { actor: 'carol' })).toBe(0);
  });

  it('an administrator who ends a single session is recorded as the actor', async () => {
    const { app } = env;
    const sessionId = await open('alice');
    const options = { by: 'admin', actor: 'carol' } as const;
    await app.auth.revokeSession(await idOf(app, 'alice'), sessionId, {}, options);
    const { items } = await administer(app).history(await idOf(app, 'alice'));
    expect(items[0]).toMatchObject({ extra: { session_id: sessionId, reason: 'admin', actor: 'carol' } });
  });

  it('an administrator ends all sessions of all users in several batches while users log out', async () => {
    const { app } = env;
    const ids = [await idOf(app, 'alice'), await idOf(app, 'bob')];
    for (let i = 0; i < 450; i++) await app.auth.openSession(ids[i % 2]!);
    const session = await app.login('carol');
    const principal = (await app.auth.authenticate(session.access_token))!;
    const [ended] = await Promise.all([
      administer(app).end({ everyone: true }, { actor: 'carol' }),
      app.auth.logoutAll(principal),
      app.auth.logoutAll(principal),
    ]);
    expect([450, 451]).toContain(ended);
    expect((await administer(app).list()).items).toEqual([]);
    expect(app.sent('user_logged_out')).toHaveLength(451);
  });

  it('ending all sessions of a user, or of all users, also revokes login tickets', async () => {
    const { app } = env;
    const id = await idOf(app, 'alice');
    const create = (): Promise<string> => app.auth.createLoginTicket(id, { methods: ['hwk'] });
    const open = (ticket: string): Promise<unknown> => app.auth.openSession({ ticket });
    for (const filter of [{ userId: id }, { everyone: true }] as const) {
      const ticket = await create();
      await administer(app).end(filter, { actor: 'carol' });
      await expect(open(ticket)).rejects.toMatchObject({ code: 'invalid_login_ticket' });
    }
    const ticket = await create();
    await administer(app).end({ userId: await idOf(app, 'bob') }, { actor: 'carol' });
    await administer(app).end({ deviceType: 'mobile' }, { actor: 'carol' });
    await open(ticket);
  });

  it('an administrator reads the history of any user in pages', async () => {
    const { app } = env;
    for (let i = 0; i < 5; i++) await open('alice');
    const id = await idOf(app, 'alice');
    const ids: number[] = [];
    let after: string | undefined;
    do {
      const page = await administer(app).history(id, { limit: 2, ...(after ? { after } : {}) });
      ids.push(...page.items.map((entry) => entry.id));
      after = page.next ?? undefined;
    } while (after !== undefined);
    expect(ids).toHaveLength(5);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => b - a));
  });

  it('`next` is null on the last page, even if that page is full', async () => {
    const { app } = env;
    for (let i = 0; i < 4; i++) await open('alice');
    const id = await idOf(app, 'alice');
    const pages = async (limit: number): Promise<(string | null)[]> => [
      (await administer(app).list({}, { limit })).next,
      (await administer(app).history(id, { limit })).next,
    ];
    expect(await pages(4)).toEqual([null, null]);
    expect(await pages(3)).toEqual([expect.any(String), expect.any(String)]);
    const { next } = await administer(app).list({}, { limit: 2 });
    const second = await administer(app).list({}, { limit: 2, after: next! });
    expect([second.items.length, second.next]).toEqual([2, null]);
    expect((await administer(app).list({ userId: await idOf(app, 'bob') }, { limit: 1 })).next).toBeNull();
  });

  it.each(['xyz', '', '1', "' OR 1=1"])(
    'an administrator cannot request a page with the invalid cursor %j',
    async (after) => {
      const id = await idOf(env.app, 'alice');
      const wrong = { code: 'invalid_field', fields: { after: ['Not a valid cursor. Pass the `next` of a page.'] } };
      await expect(administer(env.app).list({}, { after })).rejects.toMatchObject(wrong);
      if (after !== '1') await expect(administer(env.app).history(id, { after })).rejects.toMatchObject(wrong);
    },
  );

  it('an administrator cannot end sessions with an empty or invalid filter', async () => {
    const { app } = env;
    await open('alice');
    const by = { actor: 'carol' };
    const wrong = { code: 'invalid_field' };
    await expect(administer(app).end({}, by)).rejects.toMatchObject(wrong);
    await expect(administer(app).end({ userId: undefined } as never, by)).rejects.toMatchObject(wrong);
    await expect(administer(app).end({ ipAddress: 'x' }, by)).rejects.toMatchObject(wrong);
    await expect(administer(app).end({ createdBefore: new Date(NaN) }, by)).rejects.toMatchObject(wrong);
    await expect(administer(app).end({ everyone: true }, { actor: '' })).rejects.toMatchObject(wrong);
    for (const everyone of [false, undefined, 'yes'] as never[]) {
      await expect(administer(app).end({ everyone }, by)).rejects.toMatchObject(wrong);
    }
    await expect(administer(app).end({ everyone: true, userId: 'x' } as never, by)).rejects.toMatchObject(wrong);
    await expect(administer(app).list({}, { limit: 0 })).rejects.toMatchObject(wrong);
    await expect(administer(app).history('x', { after: "1' OR 1=1" })).rejects.toMatchObject(wrong);
    expect((await administer(app).list()).items).toHaveLength(1);
  });

  it('an administrator cannot end or list sessions by an unknown criterion', async () => {
    const { app } = env;
    await open('alice');
    const misspelt = { createdBefore: new Date(app.clock.now() + 1), ipAdress: '192.0.2.1' } as never;
    const wrong = {
      code: 'invalid_field',
      fields: { ipAdress: [expect.stringMatching(/^Unknown criterion\. .*ipAddress/)] },
    };
    await expect(administer(app).end(misspelt, { actor: 'carol' })).rejects.toMatchObject(wrong);
    await expect(administer(app).list(misspelt)).rejects.toMatchObject(wrong);
    expect((await administer(app).list()).items).toHaveLength(1);
  });

  it('an administrator cannot end or list sessions by a value of another type', async () => {
    const { app } = env;
    await open('alice');
    const texts = ['deviceType', 'osFamily', 'browserFamily', 'ipAddress'];
    const filters: unknown[] = [
      ...['', 0, false, NaN, '2026-01-01', {}, []].flatMap((at) => [{ createdBefore: at }, { inactiveSince: at }]),
      ...['', 'x\0', false, {}, [], ['x']].map((userId) => ({ userId })),
      ...['', 'x\0', 0, 5, false, {}, [], ['mobile']].flatMap((value) => texts.map((name) => ({ [name]: value }))),
      ...[null, 'alice', 5, [], [{ userId: 'x' }]],
    ];
    const accepted: unknown[] = [];
    for (const filter of filters) {
      const ended = administer(app).end(filter as never, { actor: 'carol' });
      const outcomes = await Promise.allSettled([ended, administer(app).list(filter as never)]);
      const isRefused = (one: PromiseSettledResult<unknown>): boolean =>
        one.status === 'rejected' && (one.reason as { code?: string }).code === 'invalid_field';
      if (!outcomes.every(isRefused)) accepted.push(filter);
    }
    expect(accepted).toEqual([]);
    expect((await administer(app).list()).items).toHaveLength(1);
  });

  it('an administrator cannot read a history with a user id or cursor of another type', async () => {
    const wrong = (field: string): object => ({ code: 'invalid_field', fields: { [field]: [expect.any(String)] } });
    for (const userId of ['', 'x\0', null, false, {}, [], ['x']]) {
      await expect(administer(env.app).history(userId as never)).rejects.toMatchObject(wrong('userId'));
    }
    await expect(administer(env.app).history('x', { after: 5 as never })).rejects.toMatchObject(wrong('after'));
    const after = [await open('alice')] as never;
    await expect(administer(env.app).list({}, { after })).rejects.toMatchObject(wrong('after'));
  });

  it('an administrator finds sessions of a user whose id is a number or a bigint', async () => {
    for (const userId of [7, 7n]) expect((await administer(env.app).list({ userId })).items).toEqual([]);
  });
});
