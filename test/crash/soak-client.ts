import { requestWithRetries, bearer, jsonRequest, type Reply } from './request-with-retries';

/** The pause before a client retries while a server restarts, in milliseconds. */
const PAUSE_MS = 20;

interface Pair {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** The results of a soak test. */
export class Tally {
  readonly statuses = new Map<string, number>();
  /** Requests without a response, because the server was killed. */
  unanswered = 0;
  readonly wronglyEnded: string[] = [];
  readonly unexpected: string[] = [];

  count(kind: string, status: number): void {
    const key = `${kind} ${status}`;
    this.statuses.set(key, (this.statuses.get(key) ?? 0) + 1);
  }
}

/** A client that behaves correctly. If its session is refused, the server ended it wrongly. */
export class SoakClient {
  private pair: Pair | null = null;

  constructor(
    private readonly username: string,
    private readonly password: string,
    private readonly urls: () => readonly string[],
    private readonly tally: Tally,
  ) {}

  async run(until: number): Promise<void> {
    while (Date.now() < until) await this.act(Math.random());
  }

  private async act(dice: number): Promise<void> {
    if (!this.pair) return this.login();
    if (dice < 0.9) return this.expect(await this.get('me'), 'guarded');
    if (dice < 0.97) return this.refresh();
    if (dice < 0.985) return this.refreshInParallel();
    if (dice < 0.998) return this.expect(await this.get('auth/sessions'), 'list');
    return this.logout();
  }

  private async login(): Promise<void> {
    const { username, password } = this;
    const reply = await this.post('auth/login', { username, password });
    this.tally.count('login', reply.status);
    if (reply.status === 200) this.pair = reply.body as Pair;
    else this.tally.unexpected.push(`login: ${reply.status}`);
  }

  private async refresh(): Promise<void> {
    const reply = await this.post('auth/token/refresh', { refresh_token: this.pair!.refresh_token });
    this.expect(reply, 'refresh');
    if (reply.status === 200) this.pair = reply.body as Pair;
  }

  /** Sends two parallel refreshes, as two tabs of one browser do. */
  private async refreshInParallel(): Promise<void> {
    const body = { refresh_token: this.pair!.refresh_token };
    const replies = await Promise.all([this.post('auth/token/refresh', body), this.post('auth/token/refresh', body)]);
    for (const reply of replies) this.expect(reply, 'double refresh');
    const pairs = replies.map((reply) => JSON.stringify(reply.body));
    if (replies.some(({ status }) => status !== 200)) return;
    if (pairs[0] !== pairs[1]) this.tally.unexpected.push('Two refreshes of one token returned two pairs.');
    this.pair = replies[0].body as Pair;
  }

  /** Logs out. A logout whose response was lost may have succeeded. */
  private async logout(): Promise<void> {
    const before = this.tally.unanswered;
    const reply = await this.post('auth/logout', {}, this.pair!.access_token);
    this.tally.count('logout', reply.status);
    if (reply.status !== 200 && this.tally.unanswered === before) this.expect(reply, 'logout again');
    this.pair = null;
  }

  private expect(reply: Reply, kind: string): void {
    this.tally.count(kind, reply.status);
    if (reply.status === 200) return;
    const refusal = `${kind}: ${reply.status} ${JSON.stringify(reply.body)}`;
    if (reply.status === 400 || reply.status === 401) this.tally.wronglyEnded.push(refusal);
    else this.tally.unexpected.push(refusal);
    this.pair = null;
  }

  private get(path: string): Promise<Reply> {
    return this.request(path, bearer(this.pair!.access_token));
  }

  private post(path: string, body: object, accessToken?: string): Promise<Reply> {
    return this.request(path, jsonRequest(body, accessToken));
  }

  /** Sends the request to a random server until one responds. A 503 with `Retry-After` is retried too. */
  private async request(path: string, init: RequestInit): Promise<Reply> {
    const reply = await requestWithRetries(path, init, {
      url: () => {
        const urls = this.urls();
        return urls[Math.floor(Math.random() * urls.length)]!;
      },
      unavailable: () => {
        this.tally.count(path, 503);
        return PAUSE_MS;
      },
      unanswered: () => {
        this.tally.unanswered++;
        return PAUSE_MS;
      },
    });
    return reply!;
  }
}
