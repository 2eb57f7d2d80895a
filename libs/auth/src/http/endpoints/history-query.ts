import { invalidField } from '../../domain/errors';
import { FIELD_MESSAGES } from '../../domain/fields';
import type { HistoryRequest } from '../../services/sessions/user-sessions';

/**
 * Reads the query of `GET history/`. It reads the URL itself, because query parsers differ for a repeated or empty parameter.
 * @throws AuthError `invalid_field`
 */
export function historyRequestOf(url: string): HistoryRequest {
  const query = new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?') + 1) : '');
  const limit = integerOf(query, 'limit');
  const before = integerOf(query, 'before');
  const events = query.getAll('event');
  if (events.length > 1) throw invalidField('event', FIELD_MESSAGES.event);
  return {
    ...(limit === undefined ? {} : { limit }),
    ...(before === undefined ? {} : { before }),
    ...(events[0] === undefined ? {} : { event: events[0].split(',') }),
  };
}

function integerOf(query: URLSearchParams, name: string): number | undefined {
  const given = query.getAll(name);
  if (given.length === 0) return undefined;
  if (given.length > 1 || !/^[0-9]+$/.test(given[0]!)) throw invalidField(name, FIELD_MESSAGES.integer);
  return Number(given[0]);
}
