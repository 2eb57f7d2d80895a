/** @import { SessionState } from '/client/session-store.js' */
import { AuthClient, localTokens } from '/client/index.js';
import { createSessionStore } from '/client/session-store.js';

/**
 * @typedef {'cookie' | 'bearer'} Transport
 *
 * @typedef {object} PageSettings
 * @property {string | null} api_origin null for the origin of the page
 * @property {string} auth_path
 * @property {number} access_token_ttl_seconds
 * @property {number | null} refresh_reuse_grace_seconds null for the default
 * @property {boolean} rotates_refresh_tokens
 * @property {boolean} remembers_sessions whether the server has the option `rememberMe`
 * @property {false | 'optional' | 'only'} cookie_mode
 * @property {{ access: string, refresh: string } | null} cookie_names
 * @property {boolean | null} has_session_cookies null if the server cannot know, because the API has another origin
 * @property {readonly { username: string, password: string }[]} users
 */

/** The settings that the server publishes for this page. */
export const settings = /** @type {PageSettings} */ (await (await fetch('/page-settings')).json());

const TRANSPORT_KEY = 'sample-transport';
/** The key under which the client stores the record of a cookie session, in all tabs. */
const RECORD_KEY = 'nestjs-session-auth:cookie';

/** Stores bearer tokens in `localStorage`, so that all tabs share one session. */
export const storage = localTokens();

/**
 * The transports that are available on this page, the recommended one first.
 * @type {readonly Transport[]}
 */
export const transports = availableTransports();

/** The transport of this browser. The user chooses it when signing in, and all tabs use it. */
export let transport = storedTransport();
export let client = createClient();

/**
 * Stores the transport for all tabs, and uses it in this tab.
 * @param {Transport} choice
 */
export function useTransport(choice) {
  localStorage.setItem(TRANSPORT_KEY, choice);
  applyStoredTransport();
}

/** Whether the browser may have session cookies that the client has not found yet. No script can read them. */
let mayHaveCookies = settings.has_session_cookies !== false;

/** Returns whether there is a session. Sends no requests that can only fail, because each one logs an error. */
export async function isSignedIn() {
  const isRecorded = sessionIn(localStorage.getItem(RECORD_KEY)) !== '';
  if (transport === 'cookie' && !mayHaveCookies && !isRecorded) return false;
  return (mayHaveCookies = await client.isSignedIn());
}

/** Replaces the client if this tab or another tab has stored a different transport. */
function applyStoredTransport() {
  if (storedTransport() === transport) return;
  client.close();
  transport = storedTransport();
  client = createClient();
  listeners.forEach((listen) => listen());
}

/** @type {(() => void)[]} */
const listeners = [];

/**
 * Loads the user, and calls `show` after each change of the session. If the transport changes, begins again.
 * @template User
 * @param {() => Promise<User | null>} loadUser
 * @param {(state: SessionState<User>) => void} show
 */
export function followSession(loadUser, show) {
  /** @type {() => void} */
  let stop = () => undefined;
  const listen = () => {
    stop();
    stop = createSessionStore(client, { loadUser }).subscribe(show);
  };
  listeners.push(listen);
  listen();
  window.addEventListener('storage', ({ key }) => (key === null || key === TRANSPORT_KEY) && applyStoredTransport());
}

function availableTransports() {
  const { cookie_mode: mode } = settings;
  if (mode === 'only') return /** @type {const} */ (['cookie']);
  // Over plain HTTP, browsers reject `Secure` cookies. The server accepts other cookies on localhost only.
  if (mode === false || !window.isSecureContext) return /** @type {const} */ (['bearer']);
  return /** @type {const} */ (['cookie', 'bearer']);
}

/** @returns {Transport} */
function storedTransport() {
  const choice = localStorage.getItem(TRANSPORT_KEY);
  return transports.find((one) => one === choice) ?? transports[0] ?? 'bearer';
}

function createClient() {
  const { refresh_reuse_grace_seconds: grace } = settings;
  return new AuthClient({
    ...(transport === 'cookie' ? { transport } : { storage }),
    ...(grace === null ? {} : { refreshReuseGraceSeconds: grace }),
    baseUrl: settings.api_origin ?? location.origin,
    authPath: settings.auth_path,
    accessTokenTtlSeconds: settings.access_token_ttl_seconds,
  });
}

/**
 * Returns the JSON of one of the application's own routes.
 * @param {string} path
 */
export async function fetchJson(path) {
  const response = await client.fetch(path);
  if (!response.ok) throw response;
  return response.json();
}

/**
 * Returns the id of the stored session, or an empty string if there is none.
 * @param {string | null} stored
 * @returns {string}
 */
function sessionIn(stored) {
  return JSON.parse(stored ?? 'null')?.sessionId ?? '';
}
