import type { OpenOutcome } from '../domain/outcomes';
import type { OpenSession } from '../domain/ports/session-store';
import { makeRoom } from '../domain/session-policy';
import type { AuthTables } from './auth-tables';
import { endEvents, type EventWriter } from './event-writer';
import {
  ANY_SESSION,
  deviceValues,
  INSERT_SESSION,
  loginEvent,
  NEW_SESSION,
  newSessionValues,
  SAME_DEVICE,
} from './new-session';
import { OptimisticOpener } from './optimistic-opener';
import type { SessionEnder } from './session-ender';
import type { Database } from './sql/database';
import { failuresInOrder } from './sql/dialect';
import { affectedBy, firstOf, type Query, type Unit } from './sql/unit';
import type { UserLocks } from './user-locks';

/** Opening a session, with the place for it made by the session policy. */
export class SessionOpener {
  private readonly insert;
  private readonly anySession;
  private readonly sameDevice;
  private readonly forgetFailures;
  private readonly optimistic: OptimisticOpener | null;

  constructor(
    private readonly database: Database,
    tables: AuthTables,
    private readonly locks: UserLocks,
    private readonly ender: SessionEnder,
    private readonly events: EventWriter,
    /** Reads the account of a user; null where the users are elsewhere. */
    private readonly account: ((userId: string) => Query) | null,
  ) {
    this.insert = tables.statement(`${INSERT_SESSION} VALUES (${NEW_SESSION})`);
    this.anySession = tables.statement(ANY_SESSION);
    this.sameDevice = tables.statement(SAME_DEVICE);
    this.forgetFailures = tables.statement(
      `DELETE FROM {failure} WHERE {failure.key} IN (${failuresInOrder(tables.dialect, ':network', ':name')})`,
    );
    this.optimistic = tables.dialect === 'postgres' ? new OptimisticOpener(database, tables, events) : null;
  }

  async open(command: OpenSession): Promise<OpenOutcome> {
    const outcome = await this.optimistic?.open(command);
    return outcome ?? this.database.atomic(() => this.openLocked(command));
  }

  private *openLocked(command: OpenSession): Unit<OpenOutcome> {
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

    const room = makeRoom(command.maxSessions === null ? [] : yield* this.ender.lockActive(userId), command, now);
    if (room.kind === 'limit_reached') return room;
    yield* this.ender.mark(room.ended, now);

    const newDevice = yield* this.isNewDevice(command);
    yield* affectedBy(this.insert.with(newSessionValues(command)));
    if (command.attempt) yield* affectedBy(this.forgetFailures.with({ ...command.attempt }));
    yield* this.events.write([...endEvents(room.ended, client, now), loginEvent(command, newDevice)]);
    return { kind: 'opened', session, ended: room.ended, newDevice };
  }

  private *isNewDevice(command: OpenSession): Unit<boolean> {
    if (!command.client.recognisable) return false;
    const values = deviceValues(command);
    if (!(yield* firstOf(this.anySession.with(values)))) return false;
    return (yield* firstOf(this.sameDevice.with(values))) === null;
  }
}
