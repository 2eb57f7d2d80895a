import type { NewAuthEvent } from '../domain/auth-event';
import type { OpenSession } from '../domain/ports/session-store';
import { eventOf } from './event-writer';

/** The columns of a new session and where their values come from. */
const INSERTED = {
  id: ':id',
  userId: ':userId',
  state: "'active'",
  endReason: 'NULL',
  endedAt: 'NULL',
  ipAddress: ':ipAddress',
  network: ':network',
  deviceType: ':deviceType',
  osFamily: ':osFamily',
  browserFamily: ':browserFamily',
  deviceName: ':deviceName',
  createdAt: ':createdAt',
  authenticatedAt: ':authenticatedAt',
  lastActivity: ':lastActivity',
  idleExpiresAt: ':idleExpiresAt',
  absoluteExpiresAt: ':absoluteExpiresAt',
  accessDigest: ':accessDigest',
  accessExpiresAt: ':accessExpiresAt',
  refreshDigest: ':refreshDigest',
  refreshExpiresAt: ':refreshExpiresAt',
  generation: '0',
  sealedAnswer: 'NULL',
  sealedUntil: 'NULL',
} as const;

const COLUMNS = Object.keys(INSERTED).map((property) => `{session.${property}}`);

/** Its row, with `newSessionValues`; what follows says where from. */
export const INSERT_SESSION = `INSERT INTO {session} (${COLUMNS.join(', ')})`;
export const NEW_SESSION = Object.values(INSERTED).join(', ');

export function newSessionValues({ session, client, ...issued }: OpenSession): Record<string, unknown> {
  return { ...session, ...issued, network: client.network };
}

/** Whether the user has any session on record, and one with this device and network: with `deviceValues`. */
export const ANY_SESSION = 'SELECT 1 AS one FROM {session} WHERE {session.userId} = :userId LIMIT 1';
export const SAME_DEVICE = `SELECT 1 AS one FROM {session} WHERE {session.userId} = :userId
  AND {session.network} = :network AND {session.deviceType} = :deviceType AND {session.osFamily} = :osFamily
  AND {session.browserFamily} = :browserFamily LIMIT 1`;

export function deviceValues({ session, client }: OpenSession): Record<string, unknown> {
  return { userId: session.userId, network: client.network, ...client.device };
}

export function loginEvent({ session, client, now }: OpenSession, newDevice: boolean): NewAuthEvent {
  return eventOf('login_success', session.userId, client, now, newDevice ? { new_device: true } : {});
}
