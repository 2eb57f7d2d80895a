import { startDevices, showDevices } from './devices.js';
import { busy, byId, make, announce } from './dom.js';
import { onSubmit, valueOf } from './forms.js';
import { showAlerts, showHistory } from './history.js';
import { follow } from './live.js';
import { startPassword } from './password.js';
import { showReadable } from './readable.js';
import { fetchJson, client, isSignedIn, onSessionChange, onSessionEnd, settings } from './session.js';
import { startTheft } from './theft.js';
import { startTransport, useChosenTransport } from './transport.js';

const HISTORY_LENGTH = 30;
const RELOAD_MS = 60_000;
const UNREACHABLE = 'The server cannot be reached. The page reconnects automatically.';

const END_MESSAGES = {
  signedOut: 'You have signed out.',
  signedOutElsewhere: 'This session has ended: it was signed out from another device, or it expired.',
  signInNeeded:
    'The renewal of your tokens was interrupted. For your security, please sign in again. No token was stolen.',
};

/** The number of the latest load. The responses of earlier loads are discarded. */
let latestLoad = 0;
let hasView = false;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let reloadTimer;

async function load() {
  const own = ++latestLoad;
  try {
    if (!(await isSignedIn())) return showWelcome(own);
    const [me, sessions, history, alerts] = await Promise.all([
      fetchJson('/me'),
      client.sessions(),
      client.history({ limit: HISTORY_LENGTH }),
      fetchJson('/security-alerts'),
    ]);
    if (own !== latestLoad) return;
    showDevices(sessions);
    showHistory(history);
    showAlerts(alerts);
    showReadable();
    showAccount(me.username);
    if (byId('message').textContent === UNREACHABLE) announce('');
  } catch {
    if (own !== latestLoad) return;
    if (!(await isSignedIn().catch(() => true))) return showWelcome(own);
    announce(UNREACHABLE);
    setLive(false);
  }
}

/** Loads once for several changes that arrive together, for example if many sessions end. */
function loadSoon() {
  reloadTimer ??= setTimeout(() => {
    reloadTimer = undefined;
    void load();
  }, 50);
}

/** @param {string} username */
function showAccount(username) {
  byId('username').textContent = username;
  /** @type {HTMLInputElement} */ (byId('change-name')).value = username;
  show('devices-view');
}

/** @param {number} [own] the load that has found no session. Default: the latest load, which is then discarded */
function showWelcome(own = latestLoad) {
  if (own !== latestLoad) return;
  latestLoad++;
  for (const id of ['devices', 'history', 'alerts']) byId(id).replaceChildren();
  show('welcome');
}

/** @param {'welcome' | 'devices-view'} view */
function show(view) {
  const isNew = byId(view).hidden;
  byId('welcome').hidden = view !== 'welcome';
  byId('devices-view').hidden = view === 'welcome';
  byId('account').hidden = view === 'welcome';
  document.title = view === 'welcome' ? 'Sign in' : 'Your devices';
  if (isNew && view !== 'welcome') window.dispatchEvent(new Event('signedin'));
  // Moves the focus, because the focused element may be gone. At the first view, no element had the focus.
  if (isNew && hasView) byId(view === 'welcome' ? 'sign-in-title' : 'devices-title').focus();
  hasView = true;
}

/** @param {boolean} isLive */
function setLive(isLive) {
  const live = byId('live');
  live.dataset['state'] = isLive ? 'live' : 'connecting';
  live.textContent = isLive ? 'Up to date' : 'Connecting';
}

/**
 * Shows the sign-in form and the reason why the session ended.
 * @param {string} text
 */
function showEnd(text) {
  showWelcome();
  if (byId('story').hidden) announce(text);
}

onSessionEnd(({ reason }) => showEnd(END_MESSAGES[reason]));

const remember = /** @type {HTMLInputElement} */ (byId('remember'));
byId('remember-field').hidden = !settings.remembers_sessions;

onSubmit('sign-in', { username: 'name', password: 'password' }, async () => {
  useChosenTransport();
  await client.login(
    valueOf('name'),
    valueOf('password'),
    settings.remembers_sessions ? { rememberMe: remember.checked } : {},
  );
  /** @type {HTMLFormElement} */ (byId('sign-in')).reset();
  byId('story').hidden = true;
  announce('');
  await load();
});

const signOut = /** @type {HTMLButtonElement} */ (byId('sign-out'));
signOut.addEventListener('click', () => busy(signOut, () => client.logout()));
startDevices(load);
startPassword(load);
startTheft(load);
startTransport();

if (settings.users.length > 0) {
  const [first, ...rest] = settings.users.map(({ username, password }) =>
    make('span', {}, make('code', {}, username), ' with the password ', make('code', {}, password)),
  );
  byId('known-users').replaceChildren(
    'Users of the sample: ',
    ...(first ? [first] : []),
    ...rest.flatMap((user) => [', ', user]),
    '.',
  );
  byId('known-users').hidden = false;
}

await load();
onSessionChange(() => void load());
document.addEventListener('visibilitychange', () => void (document.visibilityState === 'visible' && load()));
window.addEventListener('online', () => void load());
// The event stream does not report changes on other instances of the server.
setInterval(() => void (document.visibilityState === 'visible' && load()), RELOAD_MS);
follow(() => !byId('devices-view').hidden, loadSoon, setLive);
