import { ClientError } from '/client/index.js';

/**
 * Returns an element of `index.html` by its id.
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} id
 * @returns {T}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no #${id}.`);
  return /** @type {T} */ (found);
}

/**
 * Creates an element. Strings become text, never markup.
 * @param {string} tag
 * @param {Readonly<Record<string, string>>} attributes
 * @param {readonly (Node | string)[]} children
 * @returns {HTMLElement}
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/**
 * Shows a time in words, with the exact time as the tooltip.
 * @param {Date} at
 * @param {string} shown
 */
export function time(at, shown) {
  return make('time', { datetime: at.toISOString(), title: at.toLocaleString('en-GB') }, shown);
}

/**
 * Shows a message, which screen readers announce.
 * @param {string} text
 */
export function announce(text) {
  byId('message').textContent = text;
}

/**
 * Whether the error only means that the session has ended, which the client's listeners report.
 * @param {unknown} error
 */
function isSignedOut(error) {
  return error instanceof ClientError && (error.code === 'unauthorized' || error.code === 'signed_out');
}

/** @param {unknown} error */
export function textOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Disables a button while its work runs, and shows an error.
 * @param {HTMLButtonElement} button
 * @param {() => Promise<unknown>} work
 */
export async function busy(button, work) {
  if (button.getAttribute('aria-disabled') === 'true') return;
  button.setAttribute('aria-disabled', 'true');
  try {
    await work();
  } catch (error) {
    if (!isSignedOut(error)) announce(textOf(error));
  } finally {
    button.removeAttribute('aria-disabled');
  }
}
