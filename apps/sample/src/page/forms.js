import { ClientError } from '/client/index.js';
import { byId, textOf } from './dom.js';

/**
 * Calls `submit` if every field of the form is filled in, and shows errors next to their fields.
 * @param {string} id of the form
 * @param {Readonly<Record<string, string>>} inputs the id of the input for each name in `ClientError.fields`
 * @param {() => Promise<unknown>} submit
 */
export function onSubmit(id, inputs, submit) {
  const form = /** @type {HTMLFormElement} */ (byId(id));
  let isBusy = false;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (isBusy) return;
    isBusy = true;
    try {
      const empty = Object.entries(inputs).filter(([, input]) => valueOf(input) === '');
      show(id, inputs, Object.fromEntries(empty.map(([field]) => [field, ['Please fill this in.']])));
      if (empty.length === 0) await submit();
    } catch (error) {
      showError(id, inputs, error);
    } finally {
      isBusy = false;
    }
  });
}

/**
 * Returns the value of an input.
 * @param {string} input the id of the input
 */
export function valueOf(input) {
  return /** @type {HTMLInputElement} */ (byId(input)).value;
}

/**
 * Shows the error of a call.
 * @param {string} id
 * @param {Readonly<Record<string, string>>} inputs
 * @param {unknown} error
 */
function showError(id, inputs, error) {
  if (!(error instanceof ClientError)) return show(id, inputs, {}, textOf(error));
  const named = Object.keys(error.fields).some((field) => field in inputs);
  const wait = error.retryAfter === null ? '' : ` Try again in ${error.retryAfter} seconds.`;
  show(id, inputs, error.fields, named ? '' : error.detail + wait);
}

/**
 * Shows the messages of the fields and of the form, and focuses the first invalid field.
 * @param {string} id
 * @param {Readonly<Record<string, string>>} inputs
 * @param {Readonly<Record<string, readonly string[]>>} fields the messages of each invalid field
 * @param {string} general the message of the form
 */
function show(id, inputs, fields, general = '') {
  byId(`${id}-wrong`).textContent = general;
  for (const [field, input] of Object.entries(inputs)) {
    const texts = fields[field] ?? [];
    byId(`${input}-wrong`).textContent = texts.join(' ');
    byId(input).setAttribute('aria-invalid', String(texts.length > 0));
    byId(input).setAttribute('aria-describedby', `${input}-wrong`);
  }
  const first = Object.entries(inputs).find(([field]) => (fields[field]?.length ?? 0) > 0) ?? Object.entries(inputs)[0];
  const isWrong = general !== '' || Object.keys(fields).length > 0;
  if (isWrong && first) byId(first[1]).focus();
}
