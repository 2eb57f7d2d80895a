import { byId, make } from './dom.js';
import { settings, transport } from './session.js';

/** Matches the access and refresh tokens of the library in any text. */
const TOKEN = /nsa[ar]_[\w-]+/g;
const SHOWN_LENGTH = 12;

/** Shows which tokens a script on this page can read. It searches for tokens in the same way as a malicious script. */
export function showReadable() {
  const found = {
    localStorage: tokensIn(JSON.stringify({ ...localStorage })),
    sessionStorage: tokensIn(JSON.stringify({ ...sessionStorage })),
    'document.cookie': tokensIn(document.cookie),
  };
  const count = Object.values(found).flat().length;
  byId('readable-summary').textContent =
    count > 0
      ? `A script on this page can read ${count} tokens, send them elsewhere, and use them from there.`
      : 'A script on this page cannot read any token. It can only send requests while the page is open.';
  byId('readable').replaceChildren(
    ...Object.entries(found).map(([store, tokens]) => row(store, tokens.length > 0 ? list(tokens) : ['no token'])),
    row('out of reach', describeCookies()),
  );
}

/** @param {string} text */
function tokensIn(text) {
  return (text.match(TOKEN) ?? []).map((token) => `${token.slice(0, SHOWN_LENGTH)}…`);
}

/** Names the cookies that hold the tokens. A script cannot list these cookies, so the names come from the server. */
function describeCookies() {
  const { cookie_names: names } = settings;
  if (transport !== 'cookie' || !names) return ['no token'];
  return ['the ', code('HttpOnly'), ' cookies ', code(names.access), ' and ', code(names.refresh)];
}

/**
 * @param {readonly string[]} tokens
 * @returns {(Node | string)[]}
 */
function list(tokens) {
  return tokens.flatMap((token, index) => (index === 0 ? [code(token)] : [', ', code(token)]));
}

/** @param {string} text */
function code(text) {
  return make('code', {}, text);
}

/**
 * @param {string} term
 * @param {readonly (Node | string)[]} content
 */
function row(term, content) {
  return make('div', {}, make('dt', {}, term), make('dd', {}, ...content));
}
