/** @import { SessionEnd } from '/client/index.js' */
import { AuthClient, localTokens } from '/client/index.js';

/**
 * @typedef {'cookie' | 'bearer'} Transport
 *
 * @typedef {object} PageSettings
 * @property {string | null} api_origin null for that of the page
 * @property {string} auth_path
 * @property {number} access_token_ttl_seconds
 * @property {number | null} refresh_reuse_grace_seconds null for the default
 * @property {boolean} rotates_refresh_tokens
 * @property {false | 'optional' | 'only'} cookie_mode
 * @property {{ access: string, refresh: string } | null} cookie_names
 * @property {readonly { username: string, password: string }[]} users
 */

/** The settings of the server. */
export const settings = /** @type {PageSettings} */ (await (await fetch('/page-settings')).json());

const CHOICE = 'sample-transport';

/** Where the bearer tokens are: all tabs of the browser share one session. */
export const storage = localTokens();

/**
 * The ways of keeping the tokens that work here, the recommended one first.
 * @type {readonly Transport[]}
 */
export const transports = offered();

/** How this browser keeps its tokens. It is chosen at the login, and all tabs share the choice. */
export let transport = chosen();
export let client = createClient();

/**
 * Has this tab use another client, if another transport was chosen here or in another tab.
 * @param {Transport} choice
 */
export function useTransport(choice) {
  localStorage.setItem(CHOICE, choice);
  follow();
}

function follow() {
  if (chosen() === transport) return;
  client.close();
  transport = chosen();
  client = createClient();
  listeners.forEach((listen) => listen());
}

/** @type {(() => void)[]} */
const listeners = [];

/**
 * Calls a listener when the session of this browser has ended, whichever client it belongs to.
 * @param {(end: SessionEnd) => void} listener
 */
export function onSessionEnd(listener) {
  const listen = () => void client.onSessionEnd(listener);
  listeners.push(listen);
  listen();
}

function offered() {
  const { cookie_mode: mode } = settings;
  if (mode === 'only') return /** @type {const} */ (['cookie']);
  // Browsers refuse cookies with `Secure` from a plain HTTP address, and the server those without.
  if (mode === false || !window.isSecureContext) return /** @type {const} */ (['bearer']);
  return /** @type {const} */ (['cookie', 'bearer']);
}

/** @returns {Transport} */
function chosen() {
  const choice = localStorage.getItem(CHOICE);
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
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  return response.json();
}

/**
 * Calls a listener when another tab signs in or out.
 * @param {() => void} listener
 */
export function onOtherTab(listener) {
  window.addEventListener('storage', ({ key, oldValue, newValue }) => {
    if (key === null || key === CHOICE) follow();
    // The client stores its tokens under the first name, and what it knows of a session with cookies under the other.
    const isSession = key === 'nestjs-session-auth' || key === 'nestjs-session-auth:cookie';
    if (key === null || (isSession && sessionIn(oldValue) !== sessionIn(newValue))) listener();
  });
}

/**
 * Returns the id of a stored session, which is empty where there is none.
 * @param {string | null} stored
 * @returns {string}
 */
function sessionIn(stored) {
  return JSON.parse(stored ?? 'null')?.sessionId ?? '';
}
