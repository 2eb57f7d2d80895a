import { invalidField } from './errors';

/** A name or an id in the log: bounded, and without control characters. */
export function actorOf(actor: string): string {
  if (typeof actor !== 'string' || actor === '' || [...actor].length > 255) {
    throw invalidField('actor', 'Name who does it, in 1 to 255 characters.');
  }
  return actor.replace(/\p{Cc}/gu, '').toWellFormed();
}
