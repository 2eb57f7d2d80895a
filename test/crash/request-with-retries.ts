import { setTimeout as sleep } from 'node:timers/promises';

/** After this time a request counts as unanswered. */
const HANGS_AFTER_MS = 30_000;

export interface Reply {
  readonly status: number;
  readonly body: unknown;
}

/** How a client retries after no response, or after a 503 with `Retry-After`. */
export interface RetryPolicy {
  /** Returns the URL of the server for the next attempt. */
  url(): string;
  /** Returns the delay in milliseconds after a 503 with `Retry-After`, or null to give up. */
  unavailable(path: string, retryAfterMs: number): number | null;
  /** Returns the delay in milliseconds after no response, or null to give up. */
  unanswered(path: string): number | null;
}

/** Repeats a request until a server answers it. Returns null if the policy gives up. */
export async function requestWithRetries(path: string, init: RequestInit, policy: RetryPolicy): Promise<Reply | null> {
  for (;;) {
    let waitMs: number | null;
    try {
      const signal = AbortSignal.timeout(HANGS_AFTER_MS);
      const response = await fetch(`${policy.url()}/${path}`, { ...init, signal });
      const body: unknown = await response.json();
      const retryAfter = response.headers.get('retry-after');
      if (response.status !== 503 || !retryAfter) return { status: response.status, body };
      waitMs = policy.unavailable(path, Number(retryAfter) * 1_000);
    } catch {
      waitMs = policy.unanswered(path);
    }
    if (waitMs === null) return null;
    await sleep(waitMs);
  }
}

/** Returns a POST with a JSON body, and with the access token, if given. */
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
