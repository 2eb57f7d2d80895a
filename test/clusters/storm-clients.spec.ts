import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { requestWithRetries, jsonRequest } from '../crash/request-with-retries';
import { Journal } from './journal';
import { LogoutClient, RacingClient, RefreshingClient, type Group } from './storm-clients';

interface RecordedRequest {
  readonly instance: 0 | 1;
  readonly path: string;
  readonly token: string;
}

type Respond = (
  asked: RecordedRequest,
  nth: number,
) => [status: number, body?: object, headers?: Record<string, string>];

const PAIR = { session_id: 'a session', access_token: 'an access token', refresh_token: 'a refresh token' };
const UNAVAILABLE: ReturnType<Respond> = [503, { detail: 'away' }, { 'Retry-After': '0' }];

/** A fake application with two instances. It responds as given, and records its requests. */
class FakeApplication {
  readonly requests: RecordedRequest[] = [];

  private constructor(
    private readonly servers: readonly Server[],
    readonly urls: readonly [string, string],
  ) {}

  /** @param respond receives a request and the number of requests to its path so far. A login always succeeds */
  static async start(respond: Respond): Promise<FakeApplication> {
    const handle = async (instance: 0 | 1, request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const body = JSON.parse((await text(request)) || '{}') as { refresh_token?: string };
      const path = request.url!.slice(1);
      const asked = { instance, path, token: body.refresh_token ?? request.headers.authorization ?? '' };
      application.requests.push(asked);
      const nth = application.requests.filter((one) => one.path === path).length;
      const [status, answer = {}, headers = {}] = path === 'auth/login' ? [200, PAIR] : respond(asked, nth);
      response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(answer));
    };
    const servers = ([0, 1] as const).map((instance) =>
      createServer((request, response) => void handle(instance, request, response)),
    );
    for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening');
    const urls = servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const application = new FakeApplication(servers, urls as unknown as [string, string]);
    return application;
  }

  async stop(): Promise<void> {
    for (const server of this.servers) {
      server.closeAllConnections();
      await once(server.close(), 'close');
    }
  }
}

/** Lets a client act until the application has received this many requests. */
async function act(
  type: typeof RefreshingClient | typeof LogoutClient | typeof RacingClient,
  respond: Respond,
  requests: number,
  graceSeconds = 0,
): Promise<{ journal: Journal; asked: readonly RecordedRequest[] }> {
  const journal = new Journal();
  const application = await FakeApplication.start((asked, nth) => {
    if (application.requests.length >= requests) journal.isOver = true;
    return respond(asked, nth);
  });
  const { urls } = application;
  const group: Group = { name: 'own', urls, isSpread: false, graceSeconds, pauseMs: [0, 1], journal };
  await new type('alice', group, 0).run();
  await application.stop();
  return { journal, asked: application.requests };
}

const ok: Respond = ({ path }) => [200, path === 'auth/token/refresh' ? PAIR : {}];

describe('a client of the cluster suite', () => {
  it('a client presents the same token to its instance again after a 503, and no session is lost', async () => {
    const answers: Respond = (asked, nth) => (nth === 1 ? UNAVAILABLE : ok(asked, nth));
    const { journal, asked } = await act(RefreshingClient, answers, 5);
    const refreshes = asked.filter(({ path }) => path === 'auth/token/refresh');
    expect(refreshes.slice(0, 2)).toEqual([refreshes[0], refreshes[0]]);
    expect(refreshes[0]).toMatchObject({ instance: 0, token: 'a refresh token' });
    expect(journal).toMatchObject({ lost: [], wrong: [] });
    expect(journal.unavailable).toHaveLength(2);
  });

  it.each([
    ['a refused refresh token', 'auth/token/refresh', 400],
    ['a refused access token', 'me', 401],
  ])('a client counts %s as a lost session, and logs in again', async (_, refused, status) => {
    const { journal, asked } = await act(
      RefreshingClient,
      (one, nth) => (one.path === refused ? [status] : ok(one, nth)),
      4,
    );
    expect(journal.lost.length).toBeGreaterThan(0);
    expect(journal.wrong).toEqual([]);
    expect(asked.filter(({ path }) => path === 'auth/login').length).toBeGreaterThan(1);
  });

  it.each([
    ['a 500', [500]],
    ['a 503 without Retry-After', [503]],
  ] as const)('a client counts %s as a wrong response', async (_, [status]) => {
    const { journal } = await act(RefreshingClient, () => [status], 3);
    expect(journal.wrong.length).toBeGreaterThan(0);
  });

  it('a client that logs out presents its token to both instances, and counts an accepted token as a wrong response', async () => {
    const accepted: Respond = ({ path, instance }) => [path === 'me' && instance === 0 ? 401 : 200];
    const { journal, asked } = await act(LogoutClient, accepted, 4);
    expect(asked.slice(1, 4).map(({ path, instance }) => [path, instance])).toEqual([
      ['auth/logout', 0],
      ['me', 0],
      ['me', 1],
    ]);
    expect(journal.wrong).toEqual(['alice: after its logout: 200 {}']);
  });

  it('a client that refreshes at two instances in parallel counts two successes as a wrong response', async () => {
    const { journal } = await act(RacingClient, ok, 3);
    expect(journal.wrong).toContain('alice: two winners');
  });

  it('a client that refreshes at two instances in parallel counts a pair that outlives a refused refresh as a wrong response', async () => {
    const missed: Respond = ({ path, instance }) => (path === 'me' || instance === 0 ? [200, PAIR] : [400]);
    const { journal } = await act(RacingClient, missed, 4);
    expect(journal.wrong[0]).toContain('a missed replay: 200');
  });

  it('within a grace period, parallel refreshes that return two pairs, or of which one is refused, are wrong responses', async () => {
    const two: Respond = ({ instance }) => [200, { ...PAIR, refresh_token: `pair ${instance}` }];
    expect((await act(RacingClient, two, 3, 20)).journal.wrong).toContain('alice: two winners');
    expect((await act(RacingClient, ok, 3, 20)).journal.wrong).toEqual([]);
    const refused: Respond = ({ path, instance }) => (path === 'me' || instance === 0 ? [200, PAIR] : [400]);
    expect((await act(RacingClient, refused, 4, 20)).journal.wrong[0]).toContain('a repetition was refused: 200');
  });

  it('within a grace period, a client counts a pair that the database has lost as a lost session', async () => {
    const lost: Respond = ({ path, instance }) => {
      if (path === 'me') return [401];
      return path === 'auth/token/refresh' && instance === 1 ? [400] : [200, PAIR];
    };
    const { journal } = await act(RacingClient, lost, 4, 20);
    expect(journal.lost[0]).toBe('alice lost its access token');
    expect(journal.wrong).toEqual([]);
  });
});

it('a request with retries passes the time in Retry-After to its policy, in milliseconds', async () => {
  const application = await FakeApplication.start((_, nth) =>
    nth === 1 ? [503, {}, { 'Retry-After': '7' }] : [200, { done: true }],
  );
  const waits: number[] = [];
  const reply = await requestWithRetries('auth/token/refresh', jsonRequest({}), {
    url: () => application.urls[0],
    unavailable: (_, waitMs) => {
      waits.push(waitMs);
      return 0;
    },
    unanswered: () => null,
  });
  expect(waits).toEqual([7_000]);
  expect(reply).toEqual({ status: 200, body: { done: true } });
  await application.stop();
});
