import type { NextFunction, Request, Response } from 'express';
import { pending } from '../support/tap';

export interface Exchange {
  readonly request: string;
  readonly cookies: readonly string[];
  readonly status: number;
}

/** Records the requests to the server, and can hold them. */
export class Traffic {
  readonly exchanges: Exchange[] = [];
  private hold: Record<'arrived' | 'released', ReturnType<typeof pending>> | null = null;
  private waiting: { readonly count: number; readonly next: NextFunction[] } | null = null;

  /** Holds the next refresh until it is released. `reached` resolves when the refresh arrives. */
  holdRefresh(): { readonly reached: Promise<void>; readonly release: () => void } {
    const [arrived, released] = [pending(), pending()];
    this.hold = { arrived, released };
    return { reached: arrived.promise, release: released.resolve };
  }

  /** Holds requests for `/me` until `count` requests have arrived, and then passes them all on together. */
  answerTogether(count: number): void {
    this.waiting = { count, next: [] };
  }

  pass(request: Request, response: Response, next: NextFunction): void {
    this.record(request, response);
    const { path, method } = request;
    const { hold, waiting } = this;
    if (waiting && path === '/me' && method === 'GET') {
      if (waiting.next.push(next) < waiting.count) return;
      this.waiting = null;
      for (const go of waiting.next) go();
      return;
    }
    if (!hold || method !== 'POST' || !path.includes('/refresh')) return next();
    this.hold = null;
    hold.arrived.resolve();
    void hold.released.promise.then(next);
  }

  private record({ method, path, headers }: Request, response: Response): void {
    const names = (headers.cookie ?? '').split('; ').map((cookie) => cookie.split('=')[0]!);
    response.on('finish', () =>
      this.exchanges.push({
        request: `${method} ${path}`,
        cookies: names.filter((name) => name !== ''),
        status: response.statusCode,
      }),
    );
  }
}
