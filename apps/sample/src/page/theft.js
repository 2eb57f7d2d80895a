import { busy, byId, make } from './dom.js';
import { client, settings, storage, transport } from './session.js';
import { sessions as count } from './words.js';

/**
 * Handles the button that simulates a stolen refresh token.
 * @param {() => Promise<void>} reload updates the page, which then shows that this session has ended
 */
export function startTheft(reload) {
  const button = /** @type {HTMLButtonElement} */ (byId('steal'));
  button.addEventListener('click', () =>
    busy(button, () => (transport === 'cookie' ? simulateStolenCookie : simulateStolenToken)(reload)),
  );
  byId('story-close').addEventListener('click', closeStory);
  if (settings.rotates_refresh_tokens) return;
  button.disabled = true;
  byId('steal-hint').textContent =
    'This server does not rotate refresh tokens, so it cannot distinguish a copy from the original.';
}

/**
 * Simulates a stolen refresh token.
 * @param {() => Promise<void>} reload
 */
async function simulateStolenToken(reload) {
  const { length } = await client.sessions();
  const addStep = openStory();
  const stolen = await readRefreshToken();
  addStep('A thief copies the refresh token of this browser, with malware or from a backup. Nobody notices.');
  // Within a grace period, the server accepts the last used token once more, so the stolen token must be older.
  for (let times = (settings.refresh_reuse_grace_seconds ?? 0) > 0 ? 2 : 1; times > 0; times--) await refreshNow();
  addStep('This browser renews its tokens, as it does every few minutes. The copied token is now used.');
  const { status } = await present(stolen);
  if (status !== 400)
    return addStep(`The thief presents the copy, and the server responds with ${status}. This should not happen.`);
  addStep('The thief presents the copy. The server has seen it before and refuses it: 400.');
  await finish(addStep, length, reload);
}

/**
 * Simulates a stolen refresh cookie. No script can read the cookie, so the server acts as the thief.
 * @param {() => Promise<void>} reload
 */
async function simulateStolenCookie(reload) {
  const { length } = await client.sessions();
  const addStep = openStory();
  addStep(
    'A thief copies the refresh cookie of this browser, with malware or from a backup. ' +
      'No script on this page can read the cookie, so the server acts as the thief.',
  );
  const { ok, status } = await client.fetch('/stolen-cookie', { method: 'POST' });
  if (!ok) return addStep(`The server responds with ${status}. This should not happen.`);
  addStep('The thief presents the copy first, and gets new tokens. The server cannot detect this yet.');
  const isRefused = await client.refresh().then(
    () => false,
    () => true,
  );
  if (!isRefused) return addStep('This browser has renewed its tokens. This should not happen.');
  addStep('This browser renews its tokens with the same cookie. The server has seen it before and refuses it: 400.');
  await finish(addStep, length, reload);
}

/**
 * Describes how the server reacts, and shows that the session has ended.
 * @param {(text: string) => void} addStep
 * @param {number} length the number of sessions before the theft
 * @param {() => Promise<void>} reload
 */
async function finish(addStep, length, reload) {
  addStep(
    'The server cannot know which of the two is the thief, so it has ended all of your sessions ' +
      `(${count(length)}). The application has stored a security alert.`,
  );
  addStep('Sign in again to see the alert and the history. The thief does not know your password and cannot sign in.');
  await reload();
  byId('story').focus();
}

/**
 * Shows the empty list of steps.
 * @returns {(text: string) => void} a function that adds a step
 */
function openStory() {
  byId('story-steps').replaceChildren();
  byId('story').hidden = false;
  return (text) => byId('story-steps').append(make('li', {}, text));
}

export function closeStory() {
  byId('story').hidden = true;
  const heading = byId('welcome').hidden ? 'devices-title' : 'sign-in-title';
  byId(heading).focus();
}

async function readRefreshToken() {
  const tokens = await storage.read();
  if (!tokens) throw new Error('Nobody is signed in.');
  return tokens.refreshToken;
}

/** Marks the access token as expired, so that the client refreshes before its next request. */
async function refreshNow() {
  const tokens = await storage.read();
  if (tokens) await storage.write({ ...tokens, accessExpiresAt: 0 });
  await client.fetch('/me');
}

/**
 * Sends a refresh token without the client, because the client does not send a used token.
 * @param {string} refreshToken
 */
function present(refreshToken) {
  return fetch(new URL(`/${settings.auth_path}/token/refresh/`, settings.api_origin ?? location.origin), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ refresh_token: refreshToken }),
  });
}
