import type { ClientEnvironment } from './environment.js';
import { ClientError } from './errors.js';

/** A request with a body of JSON, or without one. No password and no token goes on to where a redirect points. */
export function json(method: string, body?: object): RequestInit {
  if (body === undefined) return { method, redirect: 'manual' };
  return { method, redirect: 'manual', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
}

/** Reads an answer that has to come, whole, within a time; what comes later is not looked at. */
export async function within<T>(
  milliseconds: number,
  { fetch, clock }: ClientEnvironment,
  request: Request,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const done = new AbortController();
  const late = new AbortController();
  const timeout = clock.wait(milliseconds, done.signal).then(() => {
    // The request is given up when everybody knows why.
    queueMicrotask(() => late.abort());
    throw new ClientError('no_answer', 'No answer came in time.');
  });
  timeout.catch(() => undefined);
  const answer = fetch(new Request(request, { signal: late.signal })).then(read);
  answer.catch(() => undefined);
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    done.abort();
  }
}

/** What the platform says of a request without an answer, in the words of the client. */
export function lost(cause: unknown): ClientError {
  if (cause instanceof ClientError) return cause;
  return neverLeft(cause)
    ? new ClientError('offline', 'The server cannot be reached.', { cause })
    : new ClientError('no_answer', 'No answer came.', { cause });
}

/** Throws what the platform says (a TypeError, by the rules of `fetch`) in the words of the client, and anything else as it is. */
export function rethrow(cause: unknown): never {
  // By its name: the TypeError of a frame is not the one of its page.
  throw (cause as Error | null)?.name === 'TypeError' ? lost(cause) : cause;
}

/** Node tells where a request failed: while there is no connection, nothing leaves. Browsers do not tell. */
function neverLeft(error: unknown): boolean {
  const cause = (error as { cause?: Failure } | null)?.cause;
  const failures = cause?.errors?.length ? cause.errors : [cause];
  return failures.every(
    (one) => one?.syscall === 'connect' || one?.syscall === 'getaddrinfo' || one?.code === 'UND_ERR_CONNECT_TIMEOUT',
  );
}

interface Failure {
  readonly code?: string;
  readonly syscall?: string;
  /** Of each address that was tried. */
  readonly errors?: readonly Failure[];
}
