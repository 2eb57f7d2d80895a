import type { NextFunction, Request, Response } from 'express';

/** Where a refresh is held: before the server receives the request, or before the server sends the response. */
type Hold = 'request' | 'answer';

export interface Exchange {
  readonly request: string;
  readonly cookies: readonly string[];
  readonly status: number;
}

/** Records the requests to the server, and can hold them. */
export class Traffic {
  readonly exchanges: Exchange[] = [];
  private hold: { readonly where: Hold; readonly released: Promise<void>; readonly reached: () => void } | null = null;
  private waiting: { readonly count: number; readonly next: NextFunction[] } | null = null;

  /** Holds the next refresh until it is released. `reached` resolves when the refresh arrives. */
  holdRefresh(where: Hold): { readonly reached: Promise<void>; readonly release: () => void } {
    let release!: () => void;
    const released = new Promise<void>((resolve) => (release = resolve));
    const reached = new Promise<void>((resolve) => (this.hold = { where, released, reached: resolve }));
    return { reached, release };
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
    if (hold.where === 'request') {
      hold.reached();
      void hold.released.then(next);
      return;
    }
    const end = response.end.bind(response) as (...parts: unknown[]) => Response;
    response.end = ((...parts: unknown[]) => {
      hold.reached();
      void hold.released.then(() => end(...parts));
      return response;
    }) as typeof response.end;
    next();
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
