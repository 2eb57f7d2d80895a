import { type ResultPage, SessionAdministration, type SessionFilter } from 'nestjs-session-auth';
import { DAY, HOUR } from '../support/driven-clock';
import { describeOnEachDatabase } from '../support/environment';

const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1';

describeOnEachDatabase('administration', { users: ['alice', 'bob', 'carol'] }, ({ app }) => {
  let administration: SessionAdministration;
  beforeAll(() => (administration = app.nest.get(SessionAdministration)));

  const open = async (username: string, ipAddress = '192.0.2.1', userAgent = 'test'): Promise<string> =>
    (await app.auth.openSession(await app.userId(username), { ipAddress, userAgent })).sessionId;
  const idsBy = async (filter: SessionFilter) => (await administration.list(filter)).items.map(({ id }) => id);

  /** Returns the items of all pages. `next` is null on the last page, even if that page is full. */
  async function allOf<T>(read: (page: object) => Promise<ResultPage<T>>): Promise<T[]> {
    const items: T[] = [];
    for (let after: string | null | undefined; after !== null;) {
      const page = await read({ limit: 2, ...(after ? { after } : {}) });
      expect(page.items).not.toEqual([]);
      items.push(...page.items);
      after = page.next;
    }
    return items;
  }

  it('an administrator lists the active sessions of all users in pages that contain each session once', async () => {
    const ids = [await open('alice'), await open('bob'), await open('carol'), await open('alice'), await open('bob')];
    const carol = await app.userId('carol');
    await app.auth.revokeSession(carol, ids[2]!, {}, { by: 'admin', actor: 'bob' });
    const [ended] = (await administration.history(carol)).items;
    expect(ended).toMatchObject({ extra: { session_id: ids[2], reason: 'admin', actor: 'bob' } });
    const listed = await allOf((page) => administration.list({}, page));
    expect(listed.map(({ id }) => id)).toEqual(ids.filter((_, index) => index !== 2).sort());
    const userId = await app.userId('bob');
    const { items } = await administration.list({ userId });
    expect(items).toMatchObject([{ userId, state: 'active', ipAddress: '192.0.2.1' }, {}]);
  });

  it('an administrator finds sessions by age, activity, address and device', async () => {
    const old = await open('alice', '2001:db8::1', IPHONE);
    app.clock.advance(2 * DAY);
    const since = new Date(app.clock.now() - HOUR);
    const young = await open('bob');
    const device = { deviceType: 'mobile', osFamily: 'iOS', browserFamily: 'Mobile Safari' } as const;
    const ofOld = [{ createdBefore: since }, { inactiveSince: since }, { ipAddress: '2001:0DB8:0::1' }, device];
    for (const filter of ofOld) expect(await idsBy(filter)).toEqual([old]);
    expect(await idsBy({ deviceType: 'other' })).toEqual([young]);
    expect(await idsBy({ deviceType: 'mobile', ipAddress: '192.0.2.1' })).toEqual([]);
    app.clock.advance(5 * DAY);
    expect(await idsBy({ createdBefore: since })).toEqual([]);
  });

  it('an administrator ends exactly the sessions that match a filter, and is recorded as the actor', async () => {
    const [alice, bob] = [await app.login(), await app.login('bob')];
    const userId = await app.userId();
    const administrator = { actor: 'carol (support)', client: { ipAddress: '192.0.2.8' } };
    expect(await administration.end({ userId }, administrator)).toBe(1);
    await app.expectRevoked(alice);
    await app.expectLive(bob);
    expect(await app.storedEnd(alice.session_id)).toEqual({ state: 'revoked', end_reason: 'admin' });
    expect(app.sent('user_logged_out')).toMatchObject([{ userId, reason: 'admin' }]);
    const [, ended] = await app.history((await app.login()).access_token);
    const extra = { session_id: alice.session_id, reason: 'admin', actor: 'carol (support)' };
    expect(ended).toMatchObject({ event: 'session_revoked', ip_address: '192.0.2.8', extra });
    expect(await administration.end({ userId: '00000000-0000-4000-8000-000000000000' }, administrator)).toBe(0);
  });

  it('an administrator ends all sessions of all users in several batches while users log out', async () => {
    const ids = [await app.userId(), await app.userId('bob')];
    for (let i = 0; i < 450; i++) await app.auth.openSession(ids[i % 2]!);
    const principal = await app.principal((await app.login('carol')).access_token);
    const [ended] = await Promise.all([
      administration.end({ everyone: true }, { actor: 'carol' }),
      app.auth.logoutAll(principal),
      app.auth.logoutAll(principal),
    ]);
    expect([450, 451]).toContain(ended);
    expect(await idsBy({})).toEqual([]);
    expect(app.sent('user_logged_out')).toHaveLength(451);
  });

  it('ending the sessions of all users also revokes login tickets, but ending those of another user or device does not', async () => {
    const id = await app.userId();
    const create = (): Promise<string> => app.auth.createLoginTicket(id, { methods: ['hwk'] });
    const [kept, ticket] = [await create(), await create()];
    await administration.end({ userId: await app.userId('bob') }, { actor: 'carol' });
    await administration.end({ deviceType: 'mobile' }, { actor: 'carol' });
    await app.auth.openSession({ ticket: kept });
    await administration.end({ everyone: true }, { actor: 'carol' });
    await expect(app.auth.openSession({ ticket })).rejects.toMatchObject({ code: 'invalid_login_ticket' });
  });

  it('an administrator reads the history of any user in pages', async () => {
    for (let i = 0; i < 4; i++) await open('alice');
    const id = await app.userId();
    const ids = (await allOf((page) => administration.history(id, page))).map((entry) => entry.id);
    expect(ids).toHaveLength(4);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => b - a));
  });

  it('an administrator cannot request a page with an invalid cursor', async () => {
    const id = await app.userId();
    const wrong = { code: 'invalid_field', fields: { after: ['Not a valid cursor. Pass the `next` of a page.'] } };
    for (const after of ['xyz', '', '1', "' OR 1=1", "1' OR 1=1", 5, [id]] as string[]) {
      await expect(administration.list({}, { after })).rejects.toMatchObject(wrong);
      if (after !== '1') await expect(administration.history(id, { after })).rejects.toMatchObject(wrong);
    }
  });

  it('an administrator cannot end or list sessions by an unknown criterion or a value of another type, nor end them with an empty filter', async () => {
    await open('alice');
    const misspelt = { createdBefore: new Date(app.clock.now() + 1), ipAdress: '192.0.2.1' };
    const texts = ['deviceType', 'osFamily', 'browserFamily', 'ipAddress'];
    const times = ['', 0, false, NaN, '2026-01-01', {}, [], new Date(NaN)];
    const invalid: unknown[] = [
      ...['phone', 'Mobile', 'constructor'].map((deviceType) => ({ deviceType })),
      ...times.flatMap((at) => [{ createdBefore: at }, { inactiveSince: at }]),
      ...['', 'x\0', false, {}, [], ['x'], undefined].map((userId) => ({ userId })),
      ...['', 'x\0', 0, 5, false, {}, [], ['mobile']].flatMap((value) => texts.map((name) => ({ [name]: value }))),
      ...[null, 'alice', 5, [], [{ userId: 'x' }], { ipAddress: 'x' }, misspelt],
    ];
    const endless = [
      {},
      ...[false, undefined, 'yes'].map((everyone) => ({ everyone })),
      { everyone: true, userId: 'x' },
    ];
    const wrong = { code: 'invalid_field' };
    const end = (filter: unknown, actor = 'carol') => administration.end(filter as never, { actor });
    for (const filter of [...invalid, ...endless]) await expect(end(filter)).rejects.toMatchObject(wrong);
    for (const filter of invalid) await expect(administration.list(filter as never)).rejects.toMatchObject(wrong);
    const ipAdress = [expect.stringMatching(/^Unknown criterion\. .*ipAddress/)];
    await expect(end(misspelt)).rejects.toMatchObject({ ...wrong, fields: { ipAdress } });
    await expect(end({ everyone: true }, '')).rejects.toMatchObject(wrong);
    await expect(administration.list({}, { limit: 0 })).rejects.toMatchObject(wrong);
    expect(await idsBy({})).toHaveLength(1);
  });

  it('an administrator cannot read a history with a user id of another type, and finds no sessions of an unknown id', async () => {
    const wrong = { code: 'invalid_field', fields: { userId: [expect.any(String)] } };
    for (const userId of ['', 'x\0', null, false, {}, [], ['x']]) {
      await expect(administration.history(userId as never)).rejects.toMatchObject(wrong);
    }
    for (const userId of [7, 7n]) expect(await idsBy({ userId })).toEqual([]);
  });
});
