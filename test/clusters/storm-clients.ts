import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Holder } from '../crash/checker';
import { requestWithRetries, bearer, jsonRequest, type Reply } from '../crash/request-with-retries';

export const PASSWORD = 'correct horse battery staple';

const UNANSWERED_MS = 200;

export type Session = Readonly<Record<'session_id' | 'access_token' | 'refresh_token', string>>;

/**
 * The clients of an application, and what they observed. In the group `own`, each client uses one instance. In the group
 * `spread`, each request may go to another instance, as behind a load balancer.
 */
export interface Group {
  readonly name: 'own' | 'spread';
  readonly urls: readonly [string, string];
  readonly graceSeconds: number;
  isOver: boolean;
  /** The times at which responses with status 503 arrived, as values of `performance.now()`. */
  readonly unavailable: number[];
  /** Sessions that were refused although their client behaved correctly. */
  readonly lost: string[];
  /** Responses that contradict the contract. */
  readonly wrong: string[];
}

/** Sends a request once. Returns null after a 503 or without a response. */
export function ask(url: string, path: string, init: RequestInit): Promise<Reply | null> {
  return requestWithRetries(path, init, { url: () => url, unavailable: () => null, unanswered: () => null });
}

/** Repeats a request until the server responds, but not with 503. */
export async function askUntilAnswered(url: string, path: string, init: RequestInit): Promise<Reply> {
  const repeat = (): number => UNANSWERED_MS;
  return (await requestWithRetries(path, init, { url: () => url, unavailable: repeat, unanswered: repeat }))!;
}

export async function logIn(url: string, username: string): Promise<Session> {
  return (await askUntilAnswered(url, 'auth/login', jsonRequest({ username, password: PASSWORD }))).body as Session;
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
    while (!this.group.isOver) {
      if (!this.session) await this.logIn();
      if (this.session) await this.act(this.session);
      await sleep(randomInt(200, 600));
    }
  }

  protected abstract act(session: Session): Promise<void>;

  protected request(path: string, init: RequestInit, url?: string): Promise<Reply | null> {
    const { group, username, index } = this;
    return requestWithRetries(path, init, {
      url: () => url ?? group.urls[(group.name === 'own' ? index % 2 : randomInt(2)) as 0 | 1],
      unavailable: (_, retryAfterMs) => {
        group.unavailable.push(performance.now());
        return group.isOver ? null : retryAfterMs;
      },
      unanswered: () => {
        group.wrong.push(`${username}: no response to ${path}`);
        return group.isOver ? null : UNANSWERED_MS;
      },
    });
  }

  protected wrong(what: string, reply?: Reply): void {
    const response = reply ? `: ${reply.status} ${JSON.stringify(reply.body)}` : '';
    this.group.wrong.push(`${this.username}: ${what}${response}`);
  }

  protected lose(what: string): void {
    this.group.lost.push(`${this.username} lost ${what}`);
    this.session = null;
  }

  private async logIn(): Promise<void> {
    const reply = await this.request('auth/login', jsonRequest({ username: this.username, password: PASSWORD }));
    if (reply?.status === 200) this.session = reply.body as Session;
    else if (reply) this.wrong('login', reply);
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

  /** Returns the times of the successful requests after an instant. */
  servedSince(at: number): number[] {
    return this.servedAt.filter((one) => one >= at);
  }

  /** Returns what the client knows about its session, or nothing without a session. */
  holder(): Holder[] {
    if (!this.session) return [];
    const { session_id: sessionId, access_token: accessToken, refresh_token: refreshToken } = this.session;
    return [{ sessionId, accessToken, refreshToken, isInFlight: this.isInFlight }];
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

/** A client that presents each refresh token to both instances at the same time, and does not retry. */
export class RacingClient extends StormClient {
  protected override async act(session: Session): Promise<void> {
    this.session = null;
    const { urls, graceSeconds } = this.group;
    const request = jsonRequest({ refresh_token: session.refresh_token });
    const replies = await Promise.all(urls.map((url) => ask(url, 'auth/token/refresh', request)));
    for (const reply of replies) if (reply && ![200, 400].includes(reply.status)) this.wrong('race', reply);
    const winners = replies.filter((reply) => reply?.status === 200);
    const refused = replies.filter((reply) => reply?.status === 400).length;
    const pairs = new Set(winners.map((reply) => JSON.stringify(reply!.body)));
    if (pairs.size > 1 || (winners.length > 1 && graceSeconds === 0)) this.wrong('two winners');
    if (refused === 2) this.lose('its refresh token');
    if (winners.length === 0) return;
    const won = { ...session, ...(winners[0]!.body as Session) };
    if (graceSeconds > 0) this.session = won;
    if (refused === 0) return;
    const me = await this.request('me', bearer(won.access_token));
    // Within a grace period, the database has lost the refresh, or all sessions were ended in between.
    if (me?.status === 401 && graceSeconds > 0) this.lose('its access token');
    else if (me && me.status !== 401) this.wrong(graceSeconds > 0 ? 'a repetition was refused' : 'a missed replay', me);
  }
}
