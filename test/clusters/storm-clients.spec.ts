import { LogoutClient, RacingClient, RefreshingClient, type Journal } from './storm-clients';

interface RecordedRequest {
  readonly instance: number;
  readonly path: string;
  readonly token: string;
}

/** Returns the response to a request. `nth` is the number of requests to its path so far. */
type Respond = (asked: RecordedRequest, nth: number) => readonly [number, object?, Record<string, string>?];

const REFRESH = 'auth/token/refresh';
const PAIR = { session_id: 'a session', access_token: 'an access token', refresh_token: 'a refresh token' };
const URLS = ['http://0', 'http://1'] as const;

/** Replaces `fetch` by two instances of an application. Returns the recorded requests. A login always succeeds. */
function fakeApplication(respond: Respond): RecordedRequest[] {
  const requests: RecordedRequest[] = [];
  jest.spyOn(globalThis, 'fetch').mockImplementation((url, init) => {
    const [, instance, path] = /^http:\/\/(.)\/(.*)$/.exec(url as string)!;
    const { refresh_token: refreshToken } = JSON.parse((init?.body as string) ?? '{}') as { refresh_token?: string };
    const token = refreshToken ?? (init?.headers as { Authorization?: string }).Authorization ?? '';
    const asked = { instance: Number(instance), path: path!, token };
    requests.push(asked);
    const nth = requests.filter((one) => one.path === path).length;
    const [status, body = {}, headers = {}] = path === 'auth/login' ? [200, PAIR] : respond(asked, nth);
    return Promise.resolve(Response.json(body, { status, headers }));
  });
  return requests;
}
afterEach(() => jest.restoreAllMocks());

const CLIENTS = { refreshing: RefreshingClient, leaving: LogoutClient, racing: RacingClient } as const;

/** Lets a client act until the application has received this many requests. */
async function act(type: keyof typeof CLIENTS, graceSeconds: number, respond: Respond, count: number) {
  const journal: Journal = { isOver: false, unavailable: [], lost: [], wrong: [] };
  const asked = fakeApplication((request, nth) => {
    journal.isOver = asked.length >= count;
    return respond(request, nth);
  });
  const group = { name: 'own', urls: URLS, isSpread: false, graceSeconds, pauseMs: [0, 1], journal } as const;
  await new CLIENTS[type]('alice', group, 0).run();
  return { journal, asked };
}

const ok: Respond = ({ path }) => [200, path === REFRESH ? PAIR : {}];
const refusing =
  (refused: string, status: number): Respond =>
  (asked, nth) =>
    asked.path === refused ? [status] : ok(asked, nth);
const twoPairs: Respond = ({ instance }) => [200, { ...PAIR, refresh_token: `pair ${instance}` }];
const oneRefused: Respond = ({ path, instance }) => (path === 'me' || instance === 0 ? [200, PAIR] : [400]);
const onePairLost: Respond = (asked, nth) => (asked.path === 'me' ? [401] : oneRefused(asked, nth));
const logoutForgotten: Respond = ({ path, instance }) => [path === 'me' && instance === 0 ? 401 : 200];

describe('a client of the cluster suite', () => {
  it('a client presents the same token to its instance again after a 503, and no session is lost', async () => {
    const answers: Respond = (asked, nth) => (nth === 1 ? [503, {}, { 'Retry-After': '0' }] : ok(asked, nth));
    const { journal, asked } = await act('refreshing', 0, answers, 5);
    const refreshes = asked.filter(({ path }) => path === REFRESH).slice(0, 2);
    expect(refreshes).toEqual(Array(2).fill({ instance: 0, path: REFRESH, token: 'a refresh token' }));
    expect(journal).toMatchObject({ lost: [], wrong: [] });
    expect(journal.unavailable).toHaveLength(2);
  });

  it.each<[string, keyof typeof CLIENTS, number, Respond, number, 'lost' | 'wrong', string]>([
    ['a refused refresh token', 'refreshing', 0, refusing(REFRESH, 400), 4, 'lost', 'lost its refresh token'],
    ['a refused access token', 'refreshing', 0, refusing('me', 401), 4, 'lost', 'lost its access token'],
    ['a 500', 'refreshing', 0, () => [500], 3, 'wrong', 'refresh: 500'],
    ['a 503 without Retry-After', 'refreshing', 0, () => [503], 3, 'wrong', 'refresh: 503'],
    ['a token that an instance accepts after the logout', 'leaving', 0, logoutForgotten, 4, 'wrong', 'logout: 200'],
    ['two successes of parallel refreshes', 'racing', 0, ok, 3, 'wrong', 'two winners'],
    ['a pair that outlives detected reuse', 'racing', 0, oneRefused, 4, 'wrong', 'a missed replay: 200'],
    ['two pairs within a grace period', 'racing', 20, twoPairs, 3, 'wrong', 'two winners'],
    ['a refused refresh within a grace period', 'racing', 20, oneRefused, 4, 'wrong', 'a repetition was refused'],
    ['a pair that the database has lost', 'racing', 20, onePairLost, 4, 'lost', 'lost its access token'],
  ])('a client counts %s', async (_, type, graceSeconds, respond, requests, list, entry) => {
    const { journal } = await act(type, graceSeconds, respond, requests);
    expect(journal[list][0]).toContain(entry);
    expect(journal[list === 'lost' ? 'wrong' : 'lost']).toEqual([]);
  });

  it('a client accepts parallel refreshes that return the same pair within a grace period', async () => {
    expect((await act('racing', 20, ok, 3)).journal).toMatchObject({ lost: [], wrong: [] });
  });
});
