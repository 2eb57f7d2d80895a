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
 * Creates an element. Strings become text and never HTML.
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
 * Creates a `<time>` element with a text, and the exact time as the tooltip.
 * @param {Date} at
 * @param {string} shown
 */
export function time(at, shown) {
  return make('time', { datetime: at.toISOString(), title: at.toLocaleString('en-GB') }, shown);
}

/**
 * Shows a message. Screen readers read it aloud.
 * @param {string} text
 */
export function announce(text) {
  byId('message').textContent = text;
}

/**
 * Returns whether the error only means that the session has ended. The listeners of the client report the end of a
 * session.
 * @param {unknown} error
 */
function isSignedOut(error) {
  return error instanceof ClientError && (error.code === 'unauthorized' || error.code === 'signed_out');
}

/**
 * Returns the message of an error.
 * @param {unknown} error
 */
export function textOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Disables a button while the work runs, and shows an error if the work fails.
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
