/** @import { HistoryEntry } from '/client/index.js' */
import { byId, make, time } from './dom.js';
import { describeEvent, capitalize, describeAddress, sessions, timeAgo } from './words.js';

/** @param {readonly HistoryEntry[]} entries newest first */
export function showHistory(entries) {
  byId('history').replaceChildren(
    ...entries.map((entry) => {
      const { title, kind } = describeEvent(entry);
      const where = make(
        'p',
        {},
        time(entry.timestamp, capitalize(timeAgo(entry.timestamp))),
        `, ${describeAddress(entry.ipAddress)}`,
      );
      return make('li', { class: kind, 'data-event': entry.event }, make('h3', {}, title), where);
    }),
  );
}

/**
 * Shows the alerts that the application has stored for `token_reuse_detected` signals.
 * @param {readonly { at: string, ip_address: string | null, sessions_ended: number }[]} alerts
 */
export function showAlerts(alerts) {
  byId('no-alerts').hidden = alerts.length > 0;
  byId('alerts').replaceChildren(
    ...alerts.map((alert) => {
      const at = new Date(alert.at);
      const text = `: a used refresh token was presented from ${describeAddress(alert.ip_address)}. ${sessions(alert.sessions_ended)} ended.`;
      return make('li', {}, make('strong', {}, time(at, capitalize(timeAgo(at)))), text);
    }),
  );
}
