import { busy, byId, make } from './dom.js';
import { client, settings, storage, transport } from './session.js';
import { sessions as count } from './words.js';

/**
 * @param {() => Promise<void>} reload updates the page, which finds that this session has ended too
 */
export function startTheft(reload) {
  const button = /** @type {HTMLButtonElement} */ (byId('steal'));
  button.addEventListener('click', () =>
    busy(button, () => (transport === 'cookie' ? simulateCopiedCookie : simulate)(reload)),
  );
  byId('story-close').addEventListener('click', closeStory);
  if (settings.rotates_refresh_tokens) return;
  button.disabled = true;
  byId('steal-hint').textContent =
    'This server does not renew refresh tokens, so a copy cannot be distinguished from the original.';
}

/** @param {() => Promise<void>} reload */
async function simulate(reload) {
  const { length } = await client.sessions();
  const story = openStory();
  const stolen = await readRefreshToken();
  story('A thief copies the refresh token of this browser, by malware, say, or from a backup. Nobody notices.');
  // Within a grace period the token exchanged last may be presented again, but none before it.
  for (let times = (settings.refresh_reuse_grace_seconds ?? 0) > 0 ? 2 : 1; times > 0; times--) await refreshNow();
  story('This browser renews its tokens, as it does every few minutes. The copied token is now used.');
  const { status } = await present(stolen);
  if (status !== 400)
    return story(`The thief presents the copy, and the server answers ${status}. That should not happen.`);
  story('The thief presents the copy. The server has seen it before and refuses it: 400.');
  await finish(story, length, reload);
}

/**
 * The same with cookies, where the server has to play the thief.
 * @param {() => Promise<void>} reload
 */
async function simulateCopiedCookie(reload) {
  const { length } = await client.sessions();
  const story = openStory();
  story(
    'A thief copies the refresh cookie of this browser, by malware, say, or from a backup. ' +
      'No script on this page can read it, so the server plays the thief.',
  );
  const { ok, status } = await client.fetch('/stolen-cookie', { method: 'POST' });
  if (!ok) return story(`The server answers ${status}. That should not happen.`);
  story('The thief presents the copy first, and gets new tokens. Nobody notices.');
  const isRefused = await client.refresh().then(
    () => false,
    () => true,
  );
  if (!isRefused) return story('This browser has renewed its tokens. That should not happen.');
  story('This browser renews its tokens with the same cookie. The server has seen it before and refuses it: 400.');
  await finish(story, length, reload);
}

/**
 * @param {(text: string) => void} story
 * @param {number} length how many sessions there were
 * @param {() => Promise<void>} reload
 */
async function finish(story, length, reload) {
  story(
    'The server cannot know which of the two is the thief. ' +
      `So it has ended ${count(length)}, all that you had, and the application has stored a security alert.`,
  );
  story('Sign in again: the alert and the history show it. The thief, without your password, stays out.');
  await reload();
  byId('story').focus();
}

/** @returns {(text: string) => void} adds a step */
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
 * Presents a refresh token without the client, which never presents one twice.
 * @param {string} refreshToken
 */
function present(refreshToken) {
  return fetch(new URL(`/${settings.auth_path}/token/refresh/`, settings.api_origin ?? location.origin), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ refresh_token: refreshToken }),
  });
}
