import { ELSEWHERE, INVALID_CREDENTIALS, type At, type Json } from './environment';

/** `history.maxRowsPerUser` of the application. */
const MAX_ROWS = 100;
const REFRESHES = MAX_ROWS - 2;

/** Attempts to hide an event in the history or behind a page. */
export function historyAttacks(at: At): void {
  it('refreshes do not hide other events: the history has pages and a filter, and pruning deletes refreshes first', async () => {
    const env = at();
    const alice = 'alice@history.example';
    await env.signUp(alice);
    expect(await env.tryLogin(alice, 'wrong password', ELSEWHERE)).toEqual(INVALID_CREDENTIALS);
    let tokens = await env.login(alice);
    const refresh = async (times: number): Promise<void> => {
      for (let refreshes = 0; refreshes < times; refreshes++) {
        const { status, body } = await env.refresh(tokens.refresh_token);
        expect(status).toBe(200);
        tokens = body;
      }
    };
    const history = (query: string): Promise<Json[]> => env.history(tokens.access_token, query);
    const names = (rows: Json[]) => rows.map(({ event }) => event);

    await refresh(REFRESHES);
    expect(names(await history('?event=login_failure,login_success'))).toEqual(['login_success', 'login_failure']);
    const all: Json[] = [];
    for (let page = await history('?limit=50'); page.length > 0;) {
      all.push(...page);
      page = await history(`?limit=50&before=${page.at(-1).id}`);
    }
    expect(names(all)).toEqual([...Array(REFRESHES).fill('token_refresh'), 'login_success', 'login_failure']);
    expect(new Set(all.map(({ id }) => id)).size).toBe(REFRESHES + 2);

    await refresh(12);
    const pruned = await env.post('/driver/prune');
    expect(pruned).toEqual({ status: 200, body: { events: expect.any(Number) } });
    expect(names(await history('?limit=200'))).toEqual([
      ...Array(MAX_ROWS - 2).fill('token_refresh'),
      'login_success',
      'login_failure',
    ]);
  });

  it.each([
    ['?limit=0', { limit: ['A valid integer is required.'] }],
    ['?limit=-1', { limit: ['A valid integer is required.'] }],
    ['?limit=', { limit: ['A valid integer is required.'] }],
    ['?limit=1&limit=2', { limit: ['A valid integer is required.'] }],
    ['?before=xyz', { before: ['A valid integer is required.'] }],
    ['?event=unknown', { event: ['Not a valid event.'] }],
    ['?event=', { event: ['Not a valid event.'] }],
  ])('the history refuses %s', async (query, body) => {
    const env = at();
    const bob = `bob@${Buffer.from(query).toString('hex')}.example`;
    await env.signUp(bob);
    const { access_token } = await env.login(bob);
    expect(await env.get(`/auth/history/${query}`, access_token)).toEqual({ status: 400, body });
  });

  it('the list of sessions has no next page after a full last page, and refuses a malformed cursor', async () => {
    const env = at();
    const bob = 'bob@pages.example';
    const id = await env.signUp(bob);
    for (let logins = 0; logins < 4; logins++) await env.login(bob);
    const first = await env.asAdministrator('GET', `sessions?user_id=${id}&limit=2`);
    expect(first).toEqual({ status: 200, body: { ids: expect.any(Array), next: expect.any(String) } });
    const second = await env.asAdministrator('GET', `sessions?user_id=${id}&limit=2&after=${first.body.next}`);
    expect(second).toEqual({ status: 200, body: { ids: expect.any(Array), next: null } });
    expect(new Set([...first.body.ids, ...second.body.ids]).size).toBe(4);
    const refused = await env.asAdministrator('GET', `sessions?user_id=${id}&limit=2&after=xyz`);
    expect(refused).toEqual({ status: 400, body: { after: [expect.any(String)] } });
  });
}
