import { invalidField } from './errors';

/**
 * Returns the name or id of an administrator for the event log, without control characters.
 * @throws AuthError `invalid_field` if the actor is not a string of 1 to 255 characters
 */
export function actorOf(actor: string): string {
  if (typeof actor !== 'string' || actor === '' || [...actor].length > 255) {
    throw invalidField('actor', 'Must be a name or id of 1 to 255 characters.');
  }
  return actor.replace(/\p{Cc}/gu, '').toWellFormed();
}
