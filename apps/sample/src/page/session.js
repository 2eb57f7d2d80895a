import { AuthClient, localTokens } from '/client/index.js';

/**
 * @typedef {object} PageSettings
 * @property {string} auth_path
 * @property {number} access_token_ttl_seconds
 * @property {number} refresh_reuse_grace_seconds
 * @property {boolean} rotates_refresh_tokens
 * @property {readonly { username: string, password: string }[]} users
 */

/** What the server says of itself. */
export const settings = /** @type {PageSettings} */ (await (await fetch('/page-settings')).json());

/** All tabs of the browser are in one session. */
export const storage = localTokens();

export const client = new AuthClient({
  storage,
  authPath: settings.auth_path,
  refreshReuseGraceSeconds: settings.refresh_reuse_grace_seconds,
  accessTokenTtlSeconds: settings.access_token_ttl_seconds,
});

/**
 * What the host's own routes answer.
 * @param {string} path
 */
export async function ask(path) {
  const answer = await client.fetch(path);
  if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
  return answer.json();
}

/**
 * Calls when another tab has signed in, or out.
 * @param {() => void} changed
 */
export function onOtherTab(changed) {
  window.addEventListener('storage', ({ key, oldValue, newValue }) => {
    if (key === null || (key === 'nestjs-session-auth' && !oldValue !== !newValue)) changed();
  });
}
