import { byId } from './dom.js';
import { transport, transports, useTransport } from './session.js';

const ALL = /** @type {const} */ (['cookie', 'bearer']);

/** Shows the transports in the sign-in form, and disables those that are not available. */
export function startTransport() {
  for (const one of ALL) {
    radio(one).disabled = !transports.includes(one);
    radio(one).checked = one === transport;
  }
  const hint = byId('transport-hint');
  hint.hidden = transports.length === ALL.length;
  hint.textContent = transports.includes('cookie')
    ? 'This server sends tokens only in cookies.'
    : 'Cookies require HTTPS or localhost, and the server option `cookies`.';
}

/** Uses the transport that is chosen in the sign-in form, in all tabs. */
export function useChosenTransport() {
  useTransport(radio('cookie').checked ? 'cookie' : 'bearer');
}

/**
 * @param {'cookie' | 'bearer'} name
 * @returns {HTMLInputElement}
 */
function radio(name) {
  return byId(`transport-${name}`);
}
