/** @import { HistoryEntry } from '/client/index.js' */
import { byId, make, time } from './dom.js';
import { eventWords, line, placeOf, sessions, timeAgo } from './words.js';

/** @param {readonly HistoryEntry[]} entries newest first */
export function showHistory(entries) {
  byId('history').replaceChildren(
    ...entries.map((entry) => {
      const { title, kind } = eventWords(entry);
      const where = make(
        'p',
        {},
        time(entry.timestamp, line(timeAgo(entry.timestamp))),
        `, ${placeOf(entry.ipAddress)}`,
      );
      return make('li', { class: kind, 'data-event': entry.event }, make('h3', {}, title), where);
    }),
  );
}

/**
 * What the host's own listener on `token_reuse_detected` has stored.
 * @param {readonly { at: string, ip_address: string | null, sessions_ended: number }[]} alerts
 */
export function showAlerts(alerts) {
  byId('no-alerts').hidden = alerts.length > 0;
  byId('alerts').replaceChildren(
    ...alerts.map((alert) => {
      const at = new Date(alert.at);
      const text = `: a used refresh token came again from ${placeOf(alert.ip_address)}. ${sessions(alert.sessions_ended)} ended.`;
      return make('li', {}, make('strong', {}, time(at, line(timeAgo(at)))), text);
    }),
  );
}
