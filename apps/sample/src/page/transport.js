import { byId } from './dom.js';
import { transport, transports, useTransport } from './session.js';

const ALL = /** @type {const} */ (['cookie', 'bearer']);

/** Shows the choice at the login, and disables what does not work here. */
export function startTransport() {
  for (const one of ALL) {
    radio(one).disabled = !transports.includes(one);
    radio(one).checked = one === transport;
  }
  const hint = byId('transport-hint');
  hint.hidden = transports.length === ALL.length;
  hint.textContent = transports.includes('cookie')
    ? 'This server hands out cookies alone.'
    : 'Cookies need HTTPS or localhost, and the server needs its option for them.';
}

/** Makes the choice at the login that of all tabs. */
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
