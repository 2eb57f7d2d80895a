import type { TransportCall } from './token-source';

export const REALM_LENGTH = 64;

/**
 * Determines the realm (the tenant, or the kind of users) of each call, over any transport. Set the option `realm` to a
 * class that extends this one, or to an instance. Credentials of one realm are invalid in all others.
 */
export abstract class RealmResolver {
  /**
   * Returns the realm of a call as a text of 1 to 64 characters. With any other result, or an exception, which is logged,
   * every credential of the call is invalid. Called for each guarded call, and by the library's routes.
   */
  abstract realmOf(call: TransportCall): string | null | undefined;
}

/**
 * Returns whether a user, or a stored credential, belongs to the realm of a call.
 * @param realm null if realms are not used, and empty if the call has none, to which nothing belongs
 */
export function isInRealm(owner: { readonly realm?: string | null | undefined } | null, realm: string | null): boolean {
  return realm === null || (realm !== '' && owner?.realm === realm);
}
