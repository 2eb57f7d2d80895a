import { byId, announce } from './dom.js';
import { onSubmit, valueOf } from './forms.js';
import { client } from './session.js';

/**
 * Handles the form that changes the password.
 * @param {() => Promise<void>} reload updates the page
 */
export function startPassword(reload) {
  onSubmit('change', { currentPassword: 'current', newPassword: 'next' }, async () => {
    await client.changePassword(valueOf('current'), valueOf('next'));
    /** @type {HTMLFormElement} */ (byId('change')).reset();
    await reload();
    byId('devices-title').focus();
    announce('The password is changed, and every other device is signed out.');
  });
}
