import { invalidField } from './errors';

/**
 * Returns the actor for the event log, without control characters. The actor must have 1 to 255 characters.
 * @throws AuthError `invalid_field`
 */
export function actorOf(actor: string): string {
  if (typeof actor !== 'string' || actor === '' || [...actor].length > 255) {
    throw invalidField('actor', 'Must be a name or id of 1 to 255 characters.');
  }
  return actor.replace(/\p{Cc}/gu, '').toWellFormed();
}
