import type { OpenOutcome } from '../domain/outcomes';
import type { OpenSession } from '../domain/ports/session-store';
import { isOver } from '../domain/session';
import type { AuthTables } from './auth-tables';
import { endEvents, eventOf, type EventWriter } from './event-writer';
import { ending, type SessionEnder } from './session-ender';
import { affectedBy, firstOf, type Query, type Unit } from './sql/unit';
import type { UserLocks } from './user-locks';

/** Opening a session, with the place for it made by the session policy. */
export class SessionOpener {
  private readonly insert;
  private readonly anySession;
  private readonly sameDevice;
  private readonly forgetFailures;

  constructor(
    tables: AuthTables,
    private readonly locks: UserLocks,
    private readonly ender: SessionEnder,
    private readonly events: EventWriter,
    /** Reads the account of a user; null where the users are elsewhere. */
    private readonly account: ((userId: string) => Query) | null,
  ) {
    const columns = Object.keys(INSERTED).map((property) => `{session.${property}}`);
    const values = Object.values(INSERTED);
    this.insert = tables.statement(`INSERT INTO {session} (${columns.join(', ')}) VALUES (${values.join(', ')})`);
    this.anySession = tables.statement('SELECT 1 AS one FROM {session} WHERE {session.userId} = :userId LIMIT 1');
    this.sameDevice = tables.statement(
      `SELECT 1 AS one FROM {session} WHERE {session.userId} = :userId AND {session.network} = :network
         AND {session.deviceType} = :deviceType AND {session.osFamily} = :osFamily
         AND {session.browserFamily} = :browserFamily LIMIT 1`,
    );
    this.forgetFailures = tables.statement('DELETE FROM {failure} WHERE {failure.key} IN (:keys...)');
  }

  *open(command: OpenSession): Unit<OpenOutcome> {
    const { session, client, now } = command;
    const { userId } = session;
    yield* this.locks.lock(userId);
    if (command.credentialsVersion !== null) {
      const version = yield* this.locks.credentialsVersion(userId);
      if (version !== command.credentialsVersion) return { kind: 'credentials_changed' };
    }
    // Under the lock: a user who was forgotten, disabled or deleted while the password was verified gets no session.
    const account = this.account ? (yield* firstOf(this.account(userId)))?.['account'] : 'active';
    if (account !== 'active') return { kind: 'credentials_changed' };

    const active = command.maxSessions === null ? [] : yield* this.ender.lockActive(userId);
    const live = active.filter((one) => !isOver(one, command.limits, now));
    const excess = command.maxSessions === null ? 0 : Math.max(0, live.length - command.maxSessions + 1);
    if (excess > 0 && command.onLimit === 'reject') return { kind: 'limit_reached', activeSessions: live.length };
    const ended = [
      ...active.filter((one) => !live.includes(one)).map((one) => ending(one, 'expired')),
      ...live.slice(0, excess).map((one) => ending(one, 'session_policy')),
    ];
    yield* this.ender.mark(ended, now);

    const newDevice = yield* this.isNewDevice(command);
    yield* affectedBy(this.insert.with({ ...session, ...command, network: client.network }));
    if (command.attempt) {
      const { network, name } = command.attempt;
      yield* affectedBy(this.forgetFailures.with({ keys: [network, name] }));
    }
    const success = eventOf('login_success', userId, client, now, newDevice ? { new_device: true } : {});
    yield* this.events.write([...endEvents(ended, client, now), success]);
    return { kind: 'opened', session, ended, newDevice };
  }

  private *isNewDevice({ session, client }: OpenSession): Unit<boolean> {
    if (!client.recognisable) return false;
    const { userId } = session;
    if (!(yield* firstOf(this.anySession.with({ userId })))) return false;
    return (yield* firstOf(this.sameDevice.with({ userId, network: client.network, ...client.device }))) === null;
  }
}

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
