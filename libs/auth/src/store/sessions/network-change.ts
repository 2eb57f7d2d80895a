import type { Client } from '../../domain/client';
import type { NetworkChange } from '../../domain/outcomes';
import type { RefreshableSession } from '../../domain/refresh-decision';

/**
 * Reads the previous network of a refreshed session if the network has changed (PostgreSQL). The subquery
 * reads the row as it was before the update. On other databases, the session is read first, and
 * `networkChangeOf` makes the same comparison.
 */
export const PREVIOUS_NETWORK = {
  column: `(SELECT p.{session.lastNetwork} FROM {session} p
    WHERE p.{session.id} = s.{session.id} AND p.{session.lastNetwork} <> :network) AS previous_network`,
  /** The details of the event, which depend on the column. */
  extra: `CASE WHEN previous_network IS NULL THEN CAST(:eventExtra AS text) ELSE CAST(:changedExtra AS text) END`,
} as const;

/** The details of the event if the network has changed. */
export const NETWORK_CHANGED = { network_changed: true } as const;

/**
 * Returns the previous network if a session is refreshed from a different network. Returns null if the
 * networks are the same, or if either network is unknown.
 */
export function networkChangeOf(previous: string | null, network: string): string | null {
  return previous !== null && network !== '' && previous !== network ? previous : null;
}

/** Returns the change of network at a replay, or null. A replay does not change the stored network. */
export function networkChangeAtReplay(
  { session, lastNetwork }: RefreshableSession,
  { trackedNetwork: to }: Pick<Client, 'trackedNetwork'>,
): NetworkChange | null {
  const from = networkChangeOf(lastNetwork, to);
  return from === null ? null : { session, from, to };
}
