import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { askPatiently, jsonRequest } from '../crash/patient-request';
import { Journal } from './journal';
import { Leaver, Racer, Refresher, type Group } from './storm-clients';

interface Asked {
  readonly instance: 0 | 1;
  readonly path: string;
  readonly token: string;
}

type Respond = (asked: Asked, nth: number) => [status: number, body?: object, headers?: Record<string, string>];

const PAIR = { session_id: 'a session', access_token: 'an access token', refresh_token: 'a refresh token' };
const UNAVAILABLE: ReturnType<Respond> = [503, { detail: 'away' }, { 'Retry-After': '0' }];

/** Two instances of an application that respond as told; what they were asked. */
class FakeApplication {
  readonly asked: Asked[] = [];

  private constructor(
    private readonly servers: readonly Server[],
    readonly urls: readonly [string, string],
  ) {}

  /** @param respond gets the request, and which of its path it is; it begins with a login that succeeds */
  static async start(respond: Respond): Promise<FakeApplication> {
    const handle = async (instance: 0 | 1, request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const body = JSON.parse((await text(request)) || '{}') as { refresh_token?: string };
      const path = request.url!.slice(1);
      const asked = { instance, path, token: body.refresh_token ?? request.headers.authorization ?? '' };
      application.asked.push(asked);
      const nth = application.asked.filter((one) => one.path === path).length;
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

/** Lets a client act until the application has been asked so often. */
async function act(
  type: typeof Refresher | typeof Leaver | typeof Racer,
  respond: Respond,
  requests: number,
  graceSeconds = 0,
): Promise<{ journal: Journal; asked: readonly Asked[] }> {
  const journal = new Journal();
  const application = await FakeApplication.start((asked, nth) => {
    if (application.asked.length >= requests) journal.isOver = true;
    return respond(asked, nth);
  });
  const { urls } = application;
  const group: Group = { name: 'own', urls, isSpread: false, graceSeconds, pauseMs: [0, 1], journal };
  await new type('alice', group, 0).run();
  await application.stop();
  return { journal, asked: application.asked };
}

const ok: Respond = ({ path }) => [200, path === 'auth/token/refresh' ? PAIR : {}];

describe('a client of the cluster suite', () => {
  it('presents the same token again to its instance after a 503, and no session is lost', async () => {
    const answers: Respond = (asked, nth) => (nth === 1 ? UNAVAILABLE : ok(asked, nth));
    const { journal, asked } = await act(Refresher, answers, 5);
    const refreshes = asked.filter(({ path }) => path === 'auth/token/refresh');
    expect(refreshes.slice(0, 2)).toEqual([refreshes[0], refreshes[0]]);
    expect(refreshes[0]).toMatchObject({ instance: 0, token: 'a refresh token' });
    expect(journal).toMatchObject({ lost: [], wrong: [] });
    expect(journal.unavailable).toHaveLength(2);
  });

  it.each([
    ['a refused refresh token', 'auth/token/refresh', 400],
    ['a refused access token', 'me', 401],
  ])('takes %s for a lost session, and logs in again', async (_, refused, status) => {
    const { journal, asked } = await act(Refresher, (one, nth) => (one.path === refused ? [status] : ok(one, nth)), 4);
    expect(journal.lost.length).toBeGreaterThan(0);
    expect(journal.wrong).toEqual([]);
    expect(asked.filter(({ path }) => path === 'auth/login').length).toBeGreaterThan(1);
  });

  it.each([
    ['a 500', [500]],
    ['a 503 without Retry-After', [503]],
  ] as const)('takes %s for a wrong response', async (_, [status]) => {
    const { journal } = await act(Refresher, () => [status], 3);
    expect(journal.wrong.length).toBeGreaterThan(0);
  });

  it('that logs out tries its token at both instances, and takes its acceptance for a wrong response', async () => {
    const accepted: Respond = ({ path, instance }) => [path === 'me' && instance === 0 ? 401 : 200];
    const { journal, asked } = await act(Leaver, accepted, 4);
    expect(asked.slice(1, 4).map(({ path, instance }) => [path, instance])).toEqual([
      ['auth/logout', 0],
      ['me', 0],
      ['me', 1],
    ]);
    expect(journal.wrong).toEqual(['alice: after its logout: 200 {}']);
  });

  it('that races itself takes two winners for a wrong response', async () => {
    const { journal } = await act(Racer, ok, 3);
    expect(journal.wrong).toContain('alice: two winners');
  });

  it('that races itself takes the pair of a winner that survives the replay for a wrong response', async () => {
    const missed: Respond = ({ path, instance }) => (path === 'me' || instance === 0 ? [200, PAIR] : [400]);
    const { journal } = await act(Racer, missed, 4);
    expect(journal.wrong[0]).toContain('a missed replay: 200');
  });

  it('that races itself within a grace period takes two pairs, and a refused repetition, for wrong responses', async () => {
    const two: Respond = ({ instance }) => [200, { ...PAIR, refresh_token: `pair ${instance}` }];
    expect((await act(Racer, two, 3, 20)).journal.wrong).toContain('alice: two winners');
    expect((await act(Racer, ok, 3, 20)).journal.wrong).toEqual([]);
    const refused: Respond = ({ path, instance }) => (path === 'me' || instance === 0 ? [200, PAIR] : [400]);
    expect((await act(Racer, refused, 4, 20)).journal.wrong[0]).toContain('a repetition was refused: 200');
  });

  it('that races itself within a grace period takes a pair that the database has lost for a lost session', async () => {
    const lost: Respond = ({ path, instance }) => {
      if (path === 'me') return [401];
      return path === 'auth/token/refresh' && instance === 1 ? [400] : [200, PAIR];
    };
    const { journal } = await act(Racer, lost, 4, 20);
    expect(journal.lost[0]).toBe('alice lost its access token');
    expect(journal.wrong).toEqual([]);
  });
});

it('a patient request waits as long as Retry-After says', async () => {
  const application = await FakeApplication.start((_, nth) =>
    nth === 1 ? [503, {}, { 'Retry-After': '7' }] : [200, { done: true }],
  );
  const waits: number[] = [];
  const reply = await askPatiently('auth/token/refresh', jsonRequest({}), {
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
