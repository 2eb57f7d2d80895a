import { AuthEvent } from 'nestjs-session-auth';
import { type HistoryEntry, PASSWORD } from '../support/test-application';
import { HOUR, MINUTE } from '../support/driven-clock';
import { many, writeEvents } from '../support/rows';
import { postJson, sendRaw, describeEverywhere, TIMESTAMP } from '../support/environment';

describeEverywhere('the history', {}, ({ app }) => {
  const page = async (token: string, query: string): Promise<HistoryEntry[]> =>
    (await app.get(`/auth/history/?${query}`, token).expect(200)).body as HistoryEntry[];

  /** Writes refreshes that follow the events of a login. */
  const writeRefreshes = async (count: number): Promise<void> => {
    app.clock.advance(MINUTE);
    await writeEvents(app, await app.userId(), many('token_refresh', count), MINUTE / 2);
  };

  it('the default limit is 50, and the maximum is 200', async () => {
    await writeEvents(app, await app.userId(), many('logout', 229), HOUR);
    const { access_token: token } = await app.login();
    const counts: [query: string, count: number][] = [
      ...['', '?', '?other=1'].map((query): [string, number] => [query, 50]),
      ...[1, 2, 49, 50, 51, 199, 200].map((count): [string, number] => [`?limit=${count}`, count]),
      ['?limit=%35', 5],
      ...['201', '1000000', '9007199254740993', `1${'0'.repeat(400)}`].map((n): [string, number] => [
        `?limit=${n}`,
        200,
      ]),
    ];
    for (const [query, count] of counts) {
      const { body } = await app.get(`/auth/history/${query}`, token).expect(200);
      expect([query, (body as object[]).length]).toEqual([query, count]);
    }
  });

  it('a limit that is not a single positive integer, and an invalid value of `before` or `event` are refused', async () => {
    const { access_token: token } = await app.login();
    const words = '0 00 -0 -1 -9999999999999999999 +5 5.0 1.5 .5 1e2 0x10 Infinity NaN null undefined true abc 5abc';
    const odd = ['1_000', '1,000', '%EF%BC%95', '%00', '%', '%E0%A4%A', '1;DROP%20TABLE%20auth_events'];
    const integers = ['', ...words.split(' '), '%20', '%205', '5%20', ...odd];
    const events = ['', ',', 'x', 'logout,', 'logout,x', ' logout', 'LOGOUT', '%00', 'logout,,logout'];
    const invalid: [name: string, problem: string, values: string[]][] = [
      ['limit', 'A valid integer is required.', [...integers, '5&limit=6', '5&limit=5', '5&limit=', '&limit=5']],
      ['before', 'A valid integer is required.', [...integers, '5&before=6']],
      ['event', 'Not a valid event.', [...events, 'logout&event=logout']],
    ];
    for (const [name, problem, values] of invalid) {
      for (const value of values) {
        const { status, body, headers } = await app.get(`/auth/history/?${name}=${value}`, token);
        expect([name, value, status, body]).toEqual([name, value, 400, { [name]: [problem] }]);
        expect(headers['cache-control']).toBe('no-store');
      }
    }
  });

  it('a request target in absolute form does not cause an internal error, even if it is malformed', async () => {
    const { access_token: token } = await app.login();
    const odd = ['http://host/auth/history?limit=1', 'http://host:99999/auth/history', 'http://[/auth/history'];
    for (const target of odd) {
      const answer = await sendRaw(app, [`GET ${target} HTTP/1.1`, `Authorization: Bearer ${token}`]);
      expect([target, answer.status]).not.toEqual([target, 500]);
    }
  });

  it('a page begins before the event with the given id, and the pages contain each event once', async () => {
    for (let i = 0; i < 5; i++) await app.login();
    const { access_token: token } = await app.login();
    const all = await page(token, 'limit=200');
    const seen: HistoryEntry[] = [];
    for (let found = await page(token, 'limit=4'); found.length > 0;) {
      seen.push(...found);
      found = await page(token, `limit=4&before=${found.at(-1)!.id}`);
    }
    expect(seen).toEqual(all);
    expect(await page(token, 'before=1')).toEqual([]);
    for (const most of ['9007199254740993', `1${'0'.repeat(400)}`]) {
      expect(await page(token, `before=${most}`)).toEqual(all);
    }
  });

  it('a filtered page contains only the requested events, however many refreshes followed them', async () => {
    await app.failLogin();
    const { access_token: token } = await app.login();
    const [login] = await app.history(token);
    await writeRefreshes(250);
    const names = async (query: string): Promise<string[]> => (await page(token, query)).map(({ event }) => event);
    expect(new Set(await names('limit=200'))).toEqual(new Set(['token_refresh']));
    expect(await names('event=login_success')).toEqual(['login_success']);
    expect(await names('event=login_failure,login_success')).toEqual(['login_success', 'login_failure']);
    expect(await names('event=login_failure%2Clogin_failure')).toEqual(['login_failure']);
    expect(await names(`event=login_success&before=${login!.id}`)).toEqual([]);
    expect(await names('event=logout')).toEqual([]);
  });

  it('a filtered page searches only the newest 10,000 events before the given event', async () => {
    const { access_token: token } = await app.login();
    await writeRefreshes(10_000);
    const events = await app.dataSource.getRepository(AuthEvent).find({ order: { id: 'ASC' } });
    const [login, first, second, newest] = [0, 1, 2, 10_000].map((index) => Number(events[index]!.id));
    expect(await page(token, 'event=login_success')).toEqual([]);
    expect(await page(token, `event=login_success&before=${newest}`)).toMatchObject([{ id: login }]);
    const both = await page(token, `event=token_refresh,login_success&limit=2&before=${second}`);
    expect(both).toMatchObject([{ id: first, event: 'token_refresh' }, { id: login }]);
    expect(await page(token, 'event=token_refresh&limit=1')).toMatchObject([{ id: newest }]);
  });

  it('an event has exactly the documented fields, and its id is a number', async () => {
    const { access_token: token } = await app.login();
    expect(await app.history(token)).toEqual([
      {
        id: expect.any(Number),
        event: 'login_success',
        ip_address: '127.0.0.1',
        user_agent: 'test',
        extra: {},
        timestamp: new Date(app.clock.now()).toISOString(),
      },
    ]);
    const [entry] = await app.history(token);
    expect(Number.isSafeInteger(entry!.id)).toBe(true);
    expect(entry!.timestamp).toMatch(TIMESTAMP);
  });

  it('the history contains only events of the user', async () => {
    await app.failLogin('bob');
    await app.failLogin('nobody');
    await app.login('bob');
    expect(await app.events((await app.login()).access_token)).toEqual(['login_success']);
  });

  it.each([
    ['is kept as sent', 'My Client/1.0 (ünï)'.normalize('NFC'), 'My Client/1.0 (ünï)'.normalize('NFC')],
    ['is cut at 500 characters', 'x'.repeat(2_000), 'x'.repeat(500)],
    ['loses its control characters', 'a\tb\u0085c\u009fd', 'abcd'],
  ])('the user agent of an event %s', async (_, sent, kept) => {
    const body = JSON.stringify({ username: 'alice', password: PASSWORD });
    const answer = await postJson(app, '/auth/login', body, `User-Agent: ${sent}`);
    const [entry] = await app.history(JSON.parse(answer.body).access_token);
    expect(entry!.user_agent).toBe(kept);
  });

  it('events of logins, refreshes, ended sessions and new passwords have their documented extra data', async () => {
    for (let time = 0; time < 2; time++) await app.failLogin();
    const [first, byUser] = [await app.login(), await app.login()];
    await app.delete(`/auth/sessions/${byUser.session_id}`, first.access_token).expect(200);
    const byLogoutAll = await app.login();
    await app.post('/auth/logout/all', first.access_token, { keep_current: true }).expect(200);
    const forced = await app.login();
    const { body: changed } = await app.changePassword(first.access_token, 'another password that is long').expect(200);
    await app.refreshed(changed);
    await app.refresh(changed.refresh_token).expect(400);
    const out = await app.login('alice', 'another password that is long');
    await app.post('/auth/logout', out.access_token).expect(200);
    const reset = await app.login('alice', 'another password that is long');
    await app.auth.resetPassword(await app.userId(), PASSWORD);
    const entries = (await app.history((await app.login()).access_token)).map(({ event, extra }) => [event, extra]);
    // The order of events of one transaction is undefined.
    const sorted = (rows: unknown[]) => rows.map((entry) => JSON.stringify(entry)).sort();
    expect(sorted(entries)).toEqual(
      sorted([
        ['login_failure', { username: 'alice', failure_count: 1 }],
        ['login_failure', { username: 'alice', failure_count: 2 }],
        ['login_success', {}],
        ['login_success', {}],
        ['session_revoked', { session_id: byUser.session_id, reason: 'user' }],
        ['login_success', {}],
        ['session_revoked', { session_id: byLogoutAll.session_id, reason: 'logout_all' }],
        ['login_success', {}],
        ['forced_logout', { session_id: forced.session_id, reason: 'password_change' }],
        ['password_change', {}],
        ['token_refresh', {}],
        ['token_reuse', { session_id: first.session_id, sessions_ended: 1 }],
        ['login_success', {}],
        ['logout', {}],
        ['login_success', {}],
        ['forced_logout', { session_id: reset.session_id, reason: 'password_reset' }],
        ['password_reset', {}],
        ['login_success', {}],
      ]),
    );
  });
});
