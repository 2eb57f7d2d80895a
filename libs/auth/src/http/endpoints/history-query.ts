import { invalidField } from '../../domain/errors';
import { FIELD_MESSAGES } from '../../domain/fields';
import type { HistoryRequest } from '../../services/sessions/user-sessions';

/**
 * Reads the query of `GET history/` from the URL, because query parsers treat repeated and empty parameters differently.
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
  const values = query.getAll(name);
  if (values.length === 0) return undefined;
  if (values.length > 1 || !/^[0-9]+$/.test(values[0]!)) throw invalidField(name, FIELD_MESSAGES.integer);
  return Number(values[0]);
}
