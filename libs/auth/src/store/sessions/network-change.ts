import type { Client } from '../../domain/client';
import type { NetworkChange } from '../../domain/outcomes';
import type { RefreshableSession } from '../../domain/refresh-decision';

/**
 * The network before the refresh, if it has changed (PostgreSQL). The subquery reads the row as it was before the update.
 * Elsewhere the session was read before, and `networkChangeOf` decides the same.
 */
export const PREVIOUS_NETWORK = {
  column: `(SELECT p.{session.lastNetwork} FROM {session} p
    WHERE p.{session.id} = s.{session.id} AND p.{session.lastNetwork} <> :network) AS previous_network`,
  /** The details of the event, which that column decides. */
  extra: `CASE WHEN previous_network IS NULL THEN CAST(:eventExtra AS text) ELSE CAST(:movedExtra AS text) END`,
} as const;

/** The details of the event of such a refresh. */
export const NETWORK_CHANGED = { network_changed: true } as const;

/** The previous network, if the session is refreshed from another one; null where either is not known. */
export function networkChangeOf(previous: string | null, network: string): string | null {
  return previous !== null && network !== '' && previous !== network ? previous : null;
}

/** The change that a replay shows. The session keeps the network that its pair was issued to. */
export function networkChangeAtReplay(
  { session, lastNetwork }: RefreshableSession,
  { trackedNetwork: to }: Pick<Client, 'trackedNetwork'>,
): NetworkChange | null {
  const from = networkChangeOf(lastNetwork, to);
  return from === null ? null : { session, from, to };
}
