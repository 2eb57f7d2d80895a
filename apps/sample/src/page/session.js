import { AuthClient, localTokens } from '/client/index.js';

/**
 * @typedef {object} PageSettings
 * @property {string} auth_path
 * @property {number} access_token_ttl_seconds
 * @property {number} refresh_reuse_grace_seconds
 * @property {boolean} rotates_refresh_tokens
 * @property {readonly { username: string, password: string }[]} users
 */

/** The settings of the server. */
export const settings = /** @type {PageSettings} */ (await (await fetch('/page-settings')).json());

/** All tabs of the browser share one session. */
export const storage = localTokens();

export const client = new AuthClient({
  storage,
  authPath: settings.auth_path,
  refreshReuseGraceSeconds: settings.refresh_reuse_grace_seconds,
  accessTokenTtlSeconds: settings.access_token_ttl_seconds,
});

/**
 * Returns the JSON of one of the application's own routes.
 * @param {string} path
 */
export async function fetchJson(path) {
  const response = await client.fetch(path);
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  return response.json();
}

/**
 * Calls a listener when another tab signs in or out.
 * @param {() => void} listener
 */
export function onOtherTab(listener) {
  window.addEventListener('storage', ({ key, oldValue, newValue }) => {
    if (key === null || (key === 'nestjs-session-auth' && !oldValue !== !newValue)) listener();
  });
}
