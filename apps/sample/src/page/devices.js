/** @import { Session } from '/client/index.js' */
import { busy, byId, make, announce, time } from './dom.js';
import { client } from './session.js';
import { deviceTitle, known, capitalize, describeAddress, sessions as count, timeAgo } from './words.js';

/**
 * Handles the buttons that sign out devices.
 * @param {() => Promise<void>} reload updates the page
 */
export function startDevices(reload) {
  const others = /** @type {HTMLButtonElement} */ (byId('sign-out-others'));
  others.addEventListener('click', () =>
    busy(others, async () => {
      const ended = await client.logoutAll({ keepCurrent: true });
      await reload();
      byId('devices-title').focus();
      announce(`${count(ended)} ended. Only this device is signed in.`);
    }),
  );
  byId('devices').addEventListener('click', ({ target }) => {
    const button = /** @type {Element} */ (target).closest('button');
    if (button) void busy(button, () => signOut(button, reload));
  });
}

/**
 * Signs out the device of a button.
 * @param {HTMLButtonElement} button
 * @param {() => Promise<void>} reload
 */
async function signOut(button, reload) {
  const { session = '', title } = button.dataset;
  await client.revoke(session).catch((error) => {
    // The session has already ended.
    if (error.code !== 'not_found') throw error;
  });
  if (!(await client.isSignedIn())) return;
  await reload();
  announce(`${title} is signed out.`);
}

/** @param {readonly Session[]} sessions */
export function showDevices(sessions) {
  const list = byId('devices');
  const { activeElement } = document;
  const focusedId = list.contains(activeElement)
    ? /** @type {HTMLElement} */ (activeElement).dataset['session']
    : undefined;
  const sorted = [...sessions].sort((a, b) => Number(b.isCurrent) - Number(a.isCurrent));
  list.replaceChildren(...sorted.map(deviceRow));
  byId('sign-out-others').hidden = sessions.length < 2;
  // Restores the focus to the same button, or moves the focus to the heading if the row is gone.
  if (focusedId === undefined) return;
  const row = /** @type {HTMLElement | null} */ (list.querySelector(`[data-session="${CSS.escape(focusedId)}"]`));
  (row ?? byId('devices-title')).focus();
}

/** @param {Session} session */
function deviceRow(session) {
  const title = deviceTitle(session);
  const device = known(session.deviceName);
  const heading = make('h2', {}, title);
  if (session.isCurrent) heading.append(' ', make('span', { class: 'badge' }, 'This device'));
  const button = make(
    'button',
    {
      type: 'button',
      'data-session': session.id,
      'data-title': title,
      'aria-label': `Sign out ${title}, ${describeAddress(session.ipAddress)}`,
    },
    'Sign out',
  );
  return make(
    'li',
    session.isCurrent ? { class: 'current' } : {},
    make('span', { class: `device ${session.deviceType}`, 'aria-hidden': 'true' }),
    make(
      'div',
      { class: 'about' },
      heading,
      make('p', {}, capitalize([device, describeAddress(session.ipAddress)].filter(Boolean).join(', '))),
      make(
        'p',
        {},
        'Active ',
        time(session.lastActivity, timeAgo(session.lastActivity)),
        ', signed in ',
        time(session.createdAt, timeAgo(session.createdAt)),
      ),
    ),
    button,
  );
}
