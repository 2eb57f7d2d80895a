// For TanStack Query, without an import of it.
import { ClientError, statusOf, unwrap } from './errors.js';

const MAX_RETRIES = 3;

/**
 * The option `retry` of TanStack Query for queries. Repeats up to three times what may succeed later: an unreachable
 * server, a lost response, a 5xx. Does not repeat what cannot succeed: a session that has ended or changed, a 4xx.
 * Other errors without a status are repeated.
 */
export function retry(failureCount: number, error: unknown): boolean {
  if (failureCount >= MAX_RETRIES) return false;
  const failure = unwrap(error);
  const status = statusOf(failure);
  if (status) return status >= 500;
  return !(failure instanceof ClientError) || failure.code === 'offline' || failure.code === 'no_answer';
}
