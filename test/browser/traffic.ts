import type { NextFunction, Request, Response } from 'express';

/** Where a refresh is held: before the server has seen it, or when its answer is ready. */
type Hold = 'request' | 'answer';

/** A request as it has arrived, and how it was answered. */
export interface Exchange {
  readonly request: string;
  /** The names of its cookies. */
  readonly cookies: readonly string[];
  readonly status: number;
}

/** What the server receives: requests can be held, and are recorded. */
export class Traffic {
  readonly exchanges: Exchange[] = [];
  private hold: { readonly where: Hold; readonly gate: Promise<void>; readonly reached: () => void } | null = null;
  private waiting: { readonly count: number; readonly next: NextFunction[] } | null = null;

  /** Holds the next refresh until it is let go; `reached` resolves when it is there. */
  holdRefresh(where: Hold): { readonly reached: Promise<void>; readonly letGo: () => void } {
    let letGo!: () => void;
    const gate = new Promise<void>((resolve) => (letGo = resolve));
    const reached = new Promise<void>((resolve) => (this.hold = { where, gate, reached: resolve }));
    return { reached, letGo };
  }

  /** Has so many requests for `/me` answered at the same moment: when the last of them is there. */
  answerTogether(count: number): void {
    this.waiting = { count, next: [] };
  }

  /** Middleware before all others. */
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
      void hold.gate.then(next);
      return;
    }
    const end = response.end.bind(response) as (...parts: unknown[]) => Response;
    response.end = ((...parts: unknown[]) => {
      hold.reached();
      void hold.gate.then(() => end(...parts));
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
