import { randomUUID } from 'node:crypto';
import { DAY, HOUR, MINUTE } from '../support/driven-clock';
import { describeEverywhere, sendRaw, TIMESTAMP, UUID } from '../support/environment';
import { type Pair, PASSWORD } from '../support/test-application';

const PHONE =
  'Mozilla/5.0 (Linux; Android 13; SM-G991B) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/116.0.0.0 Mobile Safari/537.36';

interface Listed {
  readonly id: string;
  readonly is_current: boolean;
  readonly [field: string]: unknown;
}

describeEverywhere('sessions of a user', {}, ({ app }) => {
  const list = async (token: string): Promise<Listed[]> =>
    (await app.get('/auth/sessions/', token).expect(200)).body as Listed[];
  const REVOKED = { detail: 'Session revoked.' };
  const NOT_FOUND = { detail: 'Session not found.' };

  it('a listed session has exactly the documented fields', async () => {
    const { access_token: token, session_id: id } = await app.login('alice', undefined, PHONE);
    const now = new Date(app.clock.now()).toISOString();
    expect(await list(token)).toEqual([
      {
        ...{ id, state: 'active', ip_address: '127.0.0.1', device_type: 'mobile', os_family: 'Android' },
        ...{ browser_family: 'Chrome Mobile', device_name: 'Samsung SM-G991B' },
        ...{ created_at: now, last_activity: now, is_current: true, methods: ['pwd'], impersonated: false },
        ...{ last_ip_address: '127.0.0.1', expires_at: new Date(app.clock.now() + 7 * DAY).toISOString() },
      },
    ]);
    expect(id).toMatch(UUID);
    expect(now).toMatch(TIMESTAMP);
  });

  it('a refresh changes the last address and the expiry of a listed session, but not the address of its login', async () => {
    const opened = await app.auth.login({ username: 'alice', password: PASSWORD }, { ipAddress: '192.0.2.1' });
    app.clock.advance(DAY);
    const { accessToken } = await app.auth.refresh(opened.refreshToken, { ipAddress: '198.51.100.7' });
    const expires_at = new Date(app.clock.now() + 7 * DAY).toISOString();
    const addresses = { ip_address: '192.0.2.1', last_ip_address: '198.51.100.7' };
    expect(await list(accessToken)).toMatchObject([{ ...addresses, expires_at }]);
  });

  it('the list contains only sessions of the user, ordered by created_at, newest first, and marks that of the request as current', async () => {
    const logins = [];
    for (const username of ['alice', 'bob', 'alice', 'alice']) {
      logins.push(await app.login(username));
      app.clock.advance(MINUTE);
    }
    const [first, bob, second, third] = logins.map(({ session_id: id }) => id);
    const marked = async ({ access_token: token }: Pair) =>
      (await list(token)).map(({ id, is_current: isCurrent }) => (isCurrent ? `current ${id}` : id));
    expect(await marked(await app.refreshed(logins[0]!))).toEqual([third, second, `current ${first}`]);
    expect(await marked(logins[2]!)).toEqual([third, `current ${second}`, first]);
    expect(await marked(logins[1]!)).toEqual([`current ${bob}`]);
  });

  it('a deleted session ends with its token family, and is not found a second time', async () => {
    const lost = await app.login();
    const next = await app.refreshed(lost);
    const mine = await app.login();
    const path = `/auth/sessions/${lost.session_id.toUpperCase()}/`;
    await app.delete(path, mine.access_token).expect(200, REVOKED);
    await app.expectRevoked(next, lost);
    await app.delete(path, mine.access_token).expect(404, NOT_FOUND);
    await app.expectLive(mine);
    expect(await app.storedEnd(lost.session_id)).toEqual({ state: 'revoked', end_reason: 'user' });
    expect(app.emittedEnds()).toEqual([[lost.session_id, 'user']]);
    const [latest] = await app.history(mine.access_token);
    expect(latest).toMatchObject({ event: 'session_revoked', extra: { session_id: lost.session_id, reason: 'user' } });
    await app.delete(`/auth/sessions/${mine.session_id}`, mine.access_token).expect(200, REVOKED);
    await app.expectRevoked(mine);
  });

  it("requests for another user's, an ended, an expired or an unknown session or an invalid id receive byte-identical 404 responses", async () => {
    const [bob, over] = [await app.login('bob'), await app.login()];
    app.clock.advance(7 * DAY - HOUR);
    const [alice, bobNow, ended] = [await app.login(), await app.login('bob'), await app.login()];
    await app.post('/auth/logout', ended.access_token).expect(200);
    app.clock.advance(HOUR);
    const current = await app.refreshed(alice);
    const ask = (id: string) =>
      sendRaw(app, [`DELETE /auth/sessions/${id}/ HTTP/1.1`, `Authorization: Bearer ${current.access_token}`]);
    const unknown = await ask(randomUUID());
    expect([unknown.status, JSON.parse(unknown.body)]).toEqual([404, NOT_FOUND]);
    const { session_id: mine } = alice;
    const words = "current 1 -1 null undefined * %00 %F0%9F%98%80 %20 %2F ..%2f..%2flogin 0-0 '%20OR%20'1'='1";
    const near = `${mine}%00 %20${mine} ${mine}%20 ${mine}%0A {${mine}} urn:uuid:${mine} ${mine.slice(0, -1)}`;
    const others = [bobNow, bob, ended, over].map((login) => login.session_id);
    const rest = ['00000000-0000-0000-0000-000000000000', mine.replaceAll('-', ''), 'a'.repeat(5_000)];
    for (const id of [...others, ...words.split(' '), ...near.split(' '), ...rest]) {
      expect([id, (await ask(id)).bytes]).toEqual([id, unknown.bytes]);
    }
    await app.expectLive(current, await app.refreshed(bobNow));
    expect(app.emittedEnds().map(([, reason]) => reason)).not.toContain('user');
  });
});
