import { setTimeout as sleep } from 'node:timers/promises';

/** A server that takes longer has forgotten the request. */
const HANGS_AFTER_MS = 30_000;

export interface Reply {
  readonly status: number;
  readonly body: unknown;
}

/** What a client does that gets no response, or is asked to come back later. */
export interface Patience {
  /** The server that it asks next. */
  url(): string;
  /** Returns how long it waits after a 503 with `Retry-After`, or null to give up. */
  unavailable(path: string, retryAfterMs: number): number | null;
  /** Returns how long it waits where no response came, or null to give up. */
  unanswered(path: string): number | null;
}

/** Sends one and the same request until a server answers it; null if the client gives up. */
export async function askPatiently(path: string, init: RequestInit, patience: Patience): Promise<Reply | null> {
  for (;;) {
    let waitMs: number | null;
    try {
      const signal = AbortSignal.timeout(HANGS_AFTER_MS);
      const response = await fetch(`${patience.url()}/${path}`, { ...init, signal });
      const body: unknown = await response.json();
      const retryAfter = response.headers.get('retry-after');
      if (response.status !== 503 || !retryAfter) return { status: response.status, body };
      waitMs = patience.unavailable(path, Number(retryAfter) * 1_000);
    } catch {
      waitMs = patience.unanswered(path);
    }
    if (waitMs === null) return null;
    await sleep(waitMs);
  }
}

/** A request with a JSON body, and with an access token if there is one. */
export function jsonRequest(body: object, accessToken?: string): RequestInit {
  const authorization = accessToken ? bearer(accessToken).headers : {};
  return {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...authorization },
    body: JSON.stringify(body),
  };
}

export function bearer(accessToken: string): { headers: { Authorization: string } } {
  return { headers: { Authorization: `Bearer ${accessToken}` } };
}
