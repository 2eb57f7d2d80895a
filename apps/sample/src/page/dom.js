import { ClientError } from '/client/index.js';

/**
 * The element of an id, which `index.html` has.
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
 * Makes an element. Text stays text: nothing here reads markup, whatever a device or a user is called.
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
 * An instant, as people say it, with the exact one behind it.
 * @param {Date} at
 * @param {string} shown
 */
export function time(at, shown) {
  return make('time', { datetime: at.toISOString(), title: at.toLocaleString('en-GB') }, shown);
}

/**
 * Says something to those who see the page and to those who hear it.
 * @param {string} text
 */
export function say(text) {
  byId('message').textContent = text;
}

/**
 * Whether it says no more than that the session is over, which the client has told by then.
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
 * Keeps a button from being pressed again while its work is done; what goes wrong is said.
 * @param {HTMLButtonElement} button
 * @param {() => Promise<unknown>} work
 */
export async function busy(button, work) {
  if (button.getAttribute('aria-disabled') === 'true') return;
  button.setAttribute('aria-disabled', 'true');
  try {
    await work();
  } catch (error) {
    if (!isSignedOut(error)) say(textOf(error));
  } finally {
    button.removeAttribute('aria-disabled');
  }
}
