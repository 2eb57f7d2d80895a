/** @import { HistoryEntry, Session } from '/client/index.js' */

const REASONS = /** @type {Readonly<Record<string, string>>} */ ({
  logout_all: 'signed out together with other devices',
  user: 'signed out from another device',
  admin: 'by an administrator',
  session_policy: 'by the session limit',
  password_change: 'the password was changed',
  password_reset: 'the password was reset',
  user_disabled: 'the account was disabled',
  user_deleted: 'the account was deleted',
  failed_reauthentication: 'too many wrong passwords',
  token_reuse: 'a refresh token was used twice',
  expired: 'expired',
});

/**
 * Returns the title of a history event, and its severity.
 * @param {HistoryEntry} entry
 * @returns {{ title: string, kind: 'good' | 'plain' | 'warning' | 'alarm' }}
 */
export function describeEvent({ event, extra }) {
  switch (event) {
    case 'login_success':
      return { title: extra['newDevice'] ? 'Signed in, on a new device' : 'Signed in', kind: 'good' };
    case 'login_failure':
      return { title: 'Failed sign-in', kind: 'warning' };
    case 'login_blocked':
      return extra['reason'] === 'session_limit'
        ? { title: 'Sign-in refused: too many devices', kind: 'warning' }
        : { title: 'Sign-in blocked after too many failed attempts', kind: 'warning' };
    case 'logout':
      return { title: 'Signed out', kind: 'plain' };
    case 'token_refresh':
      return { title: 'Tokens were renewed', kind: 'plain' };
    case 'token_reuse':
      return { title: `A stolen token was detected: ${sessions(Number(extra['sessionsEnded']))} ended`, kind: 'alarm' };
    case 'password_change':
      return { title: 'The password was changed', kind: 'good' };
    case 'password_reset':
      return { title: 'The password was reset', kind: 'warning' };
    case 'session_revoked':
    case 'forced_logout':
      return { title: `Session ended: ${REASONS[String(extra['reason'])] ?? extra['reason']}`, kind: 'plain' };
    default:
      return { title: event, kind: 'plain' };
  }
}

/** @param {number} count */
export function sessions(count) {
  return count === 1 ? '1 session' : `${count} sessions`;
}

/**
 * Returns the browser and the operating system of a session, as far as they are known.
 * @param {Session} session
 */
export function deviceTitle({ browserFamily, osFamily }) {
  const [browser, system] = [known(browserFamily), known(osFamily)];
  if (browser && system) return `${browser} on ${system}`;
  return browser || system || 'Unknown device';
}

/**
 * Describes an IP address: this computer, a local network or the internet.
 * @param {string | null} address
 */
export function describeAddress(address) {
  if (address === null) return 'address not recorded';
  if (/^(127\.|::1$)/.test(address)) return `this computer (${address})`;
  if (/^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|f[cd]|fe80:)/.test(address))
    return `local network (${address})`;
  return `internet (${address})`;
}

const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const UNITS = /** @type {const} */ ([
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]);

/**
 * Returns a relative time in words, such as "5 minutes ago".
 * @param {Date} at
 */
export function timeAgo(at) {
  const seconds = Math.max(0, (Date.now() - at.getTime()) / 1_000);
  const unit = UNITS.find(([, length]) => seconds >= length);
  return unit ? RELATIVE.format(-Math.floor(seconds / unit[1]), unit[0]) : 'just now';
}

/**
 * Returns the text with a capital first letter.
 * @param {string} text
 */
export function capitalize(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * Returns the name of a browser, system or device, or an empty string if it is not known.
 * @param {string} family
 */
export function known(family) {
  return family === 'Other' ? '' : family;
}
