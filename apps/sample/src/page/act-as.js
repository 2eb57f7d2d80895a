import { busy, byId } from './dom.js';
import { onSubmit, valueOf } from './forms.js';
import { client, settings } from './session.js';

/** The token with which the administrator acts as a user. A reload of the page forgets it. */
let token = '';

/** Shows the form to administrators. @param {boolean} isAdmin */
export function showActAs(isAdmin) {
  byId('act-as-card').hidden = !isAdmin;
}

export function startActAs() {
  onSubmit('act-as', { username: 'act-name', reason: 'act-reason' }, async () => {
    const response = await client.fetch('/support/impersonations', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ username: valueOf('act-name'), reason: valueOf('act-reason') }),
    });
    const body = await response.json();
    if (!response.ok) throw new Error(body.detail ?? body.message);
    token = body.access_token;
    const me = await (await asUser('/me')).json();
    byId('acting-name').textContent = me.username;
    byId('acting').hidden = false;
  });
  const back = /** @type {HTMLButtonElement} */ (byId('go-back'));
  back.addEventListener('click', () =>
    busy(back, async () => {
      // The response is 401 if the session has already ended.
      await asUser(`/${settings.auth_path}/logout/`, 'POST');
      token = '';
      byId('acting').hidden = true;
      byId('devices-title').focus();
    }),
  );
}

/**
 * Sends a request as the user. Without the cookies, which are the administrator's.
 * @param {string} path
 */
function asUser(path, method = 'GET') {
  const url = new URL(path, settings.api_origin ?? location.origin);
  return fetch(url, { method, credentials: 'omit', headers: { Authorization: `Bearer ${token}` } });
}
