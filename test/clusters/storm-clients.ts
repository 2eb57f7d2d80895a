import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Holder } from '../crash/checker';
import { requestWithRetries, bearer, jsonRequest, type Reply } from '../crash/request-with-retries';

export const PASSWORD = 'correct horse battery staple';

const UNANSWERED_MS = 200;

export type Session = Readonly<Record<'session_id' | 'access_token' | 'refresh_token', string>>;

/** What the clients of a group observed. Times are values of `performance.now()`. */
export interface Journal {
  isOver: boolean;
  /** The times at which responses with status 503 arrived. */
  readonly unavailable: number[];
  /** Sessions that were refused although their client behaved correctly. */
  readonly lost: string[];
  /** Responses that contradict the contract. */
  readonly wrong: string[];
}

/** A group of clients and the application that it uses. */
export interface Group {
  readonly name: 'own' | 'spread';
  readonly urls: readonly [string, string];
  /** Whether each request may go to another instance, as behind a load balancer. */
  readonly isSpread: boolean;
  readonly graceSeconds: number;
  readonly journal: Journal;
}

/** A client that behaves correctly: it honors `Retry-After`, and then presents the same token again. */
abstract class StormClient {
  protected session: Session | null = null;

  constructor(
    readonly username: string,
    readonly group: Group,
    private readonly index: number,
  ) {}

  async run(): Promise<void> {
    const { journal } = this.group;
    while (!journal.isOver) {
      if (!this.session) await this.login();
      if (this.session) await this.act(this.session);
      await sleep(randomInt(200, 600));
    }
  }

  protected abstract act(session: Session): Promise<void>;

  protected request(path: string, init: RequestInit, url?: string): Promise<Reply | null> {
    const { journal } = this.group;
    return requestWithRetries(path, init, {
      url: () => url ?? this.url(),
      unavailable: (_, retryAfterMs) => {
        journal.unavailable.push(performance.now());
        return journal.isOver ? null : retryAfterMs;
      },
      unanswered: () => {
        journal.wrong.push(`${this.username}: no response to ${path}`);
        return journal.isOver ? null : UNANSWERED_MS;
      },
    });
  }

  protected wrong(what: string, reply?: Reply): void {
    const response = reply ? `: ${reply.status} ${JSON.stringify(reply.body)}` : '';
    this.group.journal.wrong.push(`${this.username}: ${what}${response}`);
  }

  protected lose(what: string): void {
    this.group.journal.lost.push(`${this.username} lost ${what}`);
    this.session = null;
  }

  private async login(): Promise<void> {
    const reply = await this.request('auth/login', jsonRequest({ username: this.username, password: PASSWORD }));
    if (reply?.status === 200) this.session = reply.body as Session;
    else if (reply) this.wrong('login', reply);
  }

  private url(): string {
    const { urls, isSpread } = this.group;
    return urls[(isSpread ? randomInt(2) : this.index % 2) as 0 | 1];
  }
}

export class RefreshingClient extends StormClient {
  private readonly servedAt: number[] = [];
  private isInFlight = false;

  protected override async act(session: Session): Promise<void> {
    this.isInFlight = true;
    const reply = await this.request('auth/token/refresh', jsonRequest({ refresh_token: session.refresh_token }));
    if (!reply) return;
    this.isInFlight = false;
    if (reply.status === 400) return this.lose('its refresh token');
    if (reply.status !== 200) return this.wrong('refresh', reply);
    this.session = { ...session, ...(reply.body as Session) };
    const me = await this.request('me', bearer(this.session.access_token));
    if (me?.status === 401) return this.lose('its access token');
    if (me && me.status !== 200) return this.wrong('guarded request', me);
    if (me) this.servedAt.push(performance.now());
  }

  /** Returns the times of the first two successful requests after an instant, or fewer if there were fewer. */
  servedSince(at: number): number[] {
    return this.servedAt.filter((one) => one >= at).slice(0, 2);
  }

  /** Returns what the client knows about its session, or null without a session. */
  holder(): Holder | null {
    if (!this.session) return null;
    const { session_id: sessionId, access_token: accessToken, refresh_token: refreshToken } = this.session;
    return { sessionId, accessToken, refreshToken, isInFlight: this.isInFlight };
  }
}

export class LogoutClient extends StormClient {
  protected override async act({ access_token: accessToken }: Session): Promise<void> {
    this.session = null;
    const reply = await this.request('auth/logout', jsonRequest({}, accessToken));
    if (!reply) return;
    // A logout that failed with 503 may have succeeded, and then its repetition finds no session.
    if (reply.status !== 200 && reply.status !== 401) return this.wrong('logout', reply);
    for (const url of this.group.urls) {
      const me = await this.request('me', bearer(accessToken), url);
      if (me && me.status !== 401) this.wrong('after its logout', me);
    }
  }
}

export class RacingClient extends StormClient {
  protected override async act(session: Session): Promise<void> {
    this.session = null;
    const request = jsonRequest({ refresh_token: session.refresh_token });
    const giveUp = (): null => null;
    const once = (url: string): Promise<Reply | null> =>
      requestWithRetries('auth/token/refresh', request, { url: () => url, unavailable: giveUp, unanswered: giveUp });
    const replies = (await Promise.all(this.group.urls.map(once))).filter((reply) => reply !== null);
    const winners = replies.filter(({ status }) => status === 200);
    for (const reply of replies) if (![200, 400].includes(reply.status)) this.wrong('race', reply);
    const pairs = new Set(winners.map(({ body }) => JSON.stringify(body)));
    if (pairs.size > 1 || (winners.length > 1 && this.group.graceSeconds === 0)) this.wrong('two winners');
    const [winner] = winners;
    const refused = replies.filter(({ status }) => status === 400).length;
    if (refused === 2) this.lose('its refresh token');
    if (!winner) return;
    const won = { ...session, ...(winner.body as Session) };
    if (this.group.graceSeconds > 0) this.session = won;
    if (refused === 0) return;
    const me = await this.request('me', bearer(won.access_token));
    const hasGrace = this.group.graceSeconds > 0;
    // Within a grace period, the database has lost the refresh, or all sessions were ended in between.
    if (me?.status === 401 && hasGrace) this.lose('its access token');
    else if (me && me.status !== 401) this.wrong(hasGrace ? 'a repetition was refused' : 'a missed replay', me);
  }
}
