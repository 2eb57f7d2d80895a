/** @import { HistoryEntry, Session } from '/client/index.js' */
/** @import { SessionState } from '/client/session-store.js' */
import { showActAs, startActAs } from './act-as.js';
import { startDevices, showDevices } from './devices.js';
import { busy, byId, make, announce } from './dom.js';
import { onSubmit, valueOf } from './forms.js';
import { showAlerts, showHistory } from './history.js';
import { follow } from './live.js';
import { startPassword } from './password.js';
import { showReadable } from './readable.js';
import { fetchJson, client, followSession, isSignedIn, settings } from './session.js';
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

let hasView = false;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let reloadTimer;
/** @type {SessionState<Account> | undefined} */
let session;

/**
 * @typedef {object} Account
 * @property {string} username
 * @property {boolean} isAdmin
 * @property {readonly Session[]} sessions
 * @property {readonly HistoryEntry[]} history
 * @property {Parameters<typeof showAlerts>[0]} alerts
 */

/** @returns {Promise<Account | null>} null if nobody is signed in */
async function loadAccount() {
  if (!(await isSignedIn())) return null;
  const [{ username, is_admin: isAdmin = false }, sessions, history, alerts] = await Promise.all([
    fetchJson('/me'),
    client.sessions(),
    client.history({ limit: HISTORY_LENGTH }),
    fetchJson('/security-alerts'),
  ]);
  return { username, isAdmin, sessions, history, alerts };
}

/** @param {SessionState<Account>} next */
function showSession(next) {
  const former = session;
  session = next;
  if (next.status === 'signedIn') showAccount(next.user);
  if (next.status === 'signedOut') showWelcome();
  if (next.error) {
    announce(UNREACHABLE);
    setLive(false);
  } else if (byId('message').textContent === UNREACHABLE) announce('');
  const isNew = former?.status !== next.status || former.reason !== next.reason;
  if (next.status === 'signedOut' && next.reason && isNew && byId('story').hidden) announce(END_MESSAGES[next.reason]);
}

/** Loads the account again. */
async function load() {
  await session?.reload();
}

/** Loads once for several changes that arrive together, for example if many sessions end. */
function loadSoon() {
  reloadTimer ??= setTimeout(() => {
    reloadTimer = undefined;
    void load();
  }, 50);
}

/** @param {Account} account */
function showAccount({ username, isAdmin, sessions, history, alerts }) {
  showDevices(sessions);
  showHistory(history);
  showAlerts(alerts);
  showReadable();
  showActAs(isAdmin);
  byId('username').textContent = username;
  /** @type {HTMLInputElement} */ (byId('change-name')).value = username;
  show('devices-view');
}

function showWelcome() {
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
});

const signOut = /** @type {HTMLButtonElement} */ (byId('sign-out'));
signOut.addEventListener('click', () => busy(signOut, () => client.logout()));
startActAs();
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

followSession(loadAccount, showSession);
window.addEventListener('online', () => void load());
// The event stream does not report changes on other instances of the server.
setInterval(() => void (document.visibilityState === 'visible' && load()), RELOAD_MS);
follow(() => !byId('devices-view').hidden, loadSoon, setLive);
