import { randomInt } from 'node:crypto';
import { requestWithRetries, bearer, jsonRequest, type Reply } from './request-with-retries';

/** The pause before a client retries while a server restarts, in milliseconds. */
const PAUSE_MS = 20;

interface Pair {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** The results of a soak test. */
export class Tally {
  readonly statuses: Record<string, number> = {};
  /** Requests without a response, because the server was killed. */
  unanswered = 0;
  readonly wronglyEnded: string[] = [];
  readonly unexpected: string[] = [];

  count(kind: string, status: number): void {
    const key = `${kind} ${status}`;
    this.statuses[key] = (this.statuses[key] ?? 0) + 1;
  }
}

/** A client that behaves correctly. If its session is refused, the server ended it wrongly. */
export class SoakClient {
  private pair: Pair | null = null;

  constructor(
    private readonly credentials: { readonly username: string; readonly password: string },
    private readonly urls: readonly string[],
    private readonly tally: Tally,
  ) {}

  async run(until: number): Promise<void> {
    while (Date.now() < until) await this.act(Math.random());
  }

  private async act(dice: number): Promise<void> {
    if (!this.pair) return this.login();
    const { access_token: accessToken } = this.pair;
    if (dice < 0.9) this.expect(await this.send('me', bearer(accessToken)), 'guarded');
    else if (dice < 0.97) await this.refresh('refresh', 1);
    // Two parallel refreshes, as two tabs of one browser send them.
    else if (dice < 0.985) await this.refresh('double refresh', 2);
    else if (dice < 0.998) this.expect(await this.send('auth/sessions', bearer(accessToken)), 'list');
    else await this.logout(accessToken);
  }

  private async login(): Promise<void> {
    const reply = await this.send('auth/login', jsonRequest(this.credentials));
    this.tally.count('login', reply.status);
    if (reply.status === 200) this.pair = reply.body as Pair;
    else this.tally.unexpected.push(`login: ${reply.status}`);
  }

  private async refresh(kind: string, times: number): Promise<void> {
    const request = jsonRequest({ refresh_token: this.pair!.refresh_token });
    const replies = await Promise.all(Array.from({ length: times }, () => this.send('auth/token/refresh', request)));
    for (const reply of replies) this.expect(reply, kind);
    if (replies.some(({ status }) => status !== 200)) return;
    const pairs = new Set(replies.map(({ body }) => JSON.stringify(body)));
    if (pairs.size > 1) this.tally.unexpected.push('Two refreshes of one token returned two pairs.');
    this.pair = replies[0]!.body as Pair;
  }

  /** Logs out. A logout whose response was lost may have succeeded. */
  private async logout(accessToken: string): Promise<void> {
    const before = this.tally.unanswered;
    const reply = await this.send('auth/logout', jsonRequest({}, accessToken));
    this.tally.count('logout', reply.status);
    if (reply.status !== 200 && this.tally.unanswered === before) this.expect(reply, 'logout again');
    this.pair = null;
  }

  private expect({ status, body }: Reply, kind: string): void {
    this.tally.count(kind, status);
    if (status === 200) return;
    const { wronglyEnded, unexpected } = this.tally;
    (status === 400 || status === 401 ? wronglyEnded : unexpected).push(`${kind}: ${status} ${JSON.stringify(body)}`);
    this.pair = null;
  }

  /** Sends the request to a random server until one responds. A 503 with `Retry-After` is retried too. */
  private async send(path: string, init: RequestInit): Promise<Reply> {
    const { tally, urls } = this;
    const reply = await requestWithRetries(path, init, {
      url: () => urls[randomInt(urls.length)]!,
      unavailable: () => (tally.count(path, 503), PAUSE_MS),
      unanswered: () => (tally.unanswered++, PAUSE_MS),
    });
    return reply!;
  }
}
