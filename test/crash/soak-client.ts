import { setTimeout as sleep } from 'node:timers/promises';

interface Pair {
  readonly access_token: string;
  readonly refresh_token: string;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** What a soak has seen. */
export class Tally {
  readonly statuses = new Map<string, number>();
  /** No answer, because the server was killed. */
  unanswered = 0;
  readonly wronglyEnded: string[] = [];
  readonly unexpected: string[] = [];

  count(kind: string, status: number): void {
    const key = `${kind} ${status}`;
    this.statuses.set(key, (this.statuses.get(key) ?? 0) + 1);
  }
}

/** A client that is never wrong: whatever of its session is refused, the server has ended it wrongly. */
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
    if (dice < 0.985) return this.raceItself();
    if (dice < 0.998) return this.expect(await this.get('auth/sessions'), 'list');
    return this.logout();
  }

  private async login(): Promise<void> {
    const { username, password } = this;
    const answer = await this.post('auth/login', { username, password });
    this.tally.count('login', answer.status);
    if (answer.status === 200) this.pair = answer.body as Pair;
    else this.tally.unexpected.push(`login: ${answer.status}`);
  }

  private async refresh(): Promise<void> {
    const answer = await this.post('auth/token/refresh', { refresh_token: this.pair!.refresh_token });
    this.expect(answer, 'refresh');
    if (answer.status === 200) this.pair = answer.body as Pair;
  }

  /** As two tabs of one browser do. */
  private async raceItself(): Promise<void> {
    const body = { refresh_token: this.pair!.refresh_token };
    const answers = await Promise.all([this.post('auth/token/refresh', body), this.post('auth/token/refresh', body)]);
    for (const answer of answers) this.expect(answer, 'double refresh');
    const pairs = answers.map((answer) => JSON.stringify(answer.body));
    if (answers.some(({ status }) => status !== 200)) return;
    if (pairs[0] !== pairs[1]) this.tally.unexpected.push('Two refreshes of one token gave two pairs.');
    this.pair = answers[0].body as Pair;
  }

  /** One whose answer was lost may have been done. */
  private async logout(): Promise<void> {
    const before = this.tally.unanswered;
    const answer = await this.post('auth/logout', {}, this.pair!.access_token);
    this.tally.count('logout', answer.status);
    if (answer.status !== 200 && this.tally.unanswered === before) this.expect(answer, 'logout again');
    this.pair = null;
  }

  private expect(answer: Answer, kind: string): void {
    this.tally.count(kind, answer.status);
    if (answer.status === 200) return;
    const told = `${kind}: ${answer.status} ${JSON.stringify(answer.body)}`;
    if (answer.status === 400 || answer.status === 401) this.tally.wronglyEnded.push(told);
    else this.tally.unexpected.push(told);
    this.pair = null;
  }

  private get(path: string): Promise<Answer> {
    return this.ask(path, { headers: { Authorization: `Bearer ${this.pair!.access_token}` } });
  }

  private post(path: string, body: object, accessToken?: string): Promise<Answer> {
    const headers = {
      'Content-Type': 'application/json',
      ...(accessToken ? { Authorization: `Bearer ${accessToken}` } : {}),
    };
    return this.ask(path, { method: 'POST', headers, body: JSON.stringify(body) });
  }

  /** Asks one server or the other until one answers; what a server cannot do just now it says with 503 and when to come again. */
  private async ask(path: string, init: RequestInit): Promise<Answer> {
    for (;;) {
      const urls = this.urls();
      const url = urls[Math.floor(Math.random() * urls.length)]!;
      try {
        const response = await fetch(`${url}/${path}`, init);
        const body: unknown = await response.json();
        if (response.status !== 503 || !response.headers.get('retry-after')) return { status: response.status, body };
        this.tally.count(path, 503);
      } catch {
        this.tally.unanswered++;
      }
      await sleep(20);
    }
  }
}
