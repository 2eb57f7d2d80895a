import type { OpenOutcome } from '../domain/outcomes';
import type { OpenSession } from '../domain/ports/session-store';
import type { EndedSession, SessionRecord } from '../domain/session';
import { makeRoom } from '../domain/session-policy';
import { SESSION_COLUMNS, type AuthTables } from './auth-tables';
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
import { sessionFromRow } from './rows';
import type { Database } from './sql/database';
import { failuresInOrder, unlessLate } from './sql/dialect';
import type { Statement } from './sql/statement';
import { rowsOf, TIME_LEFT, type Row, type Unit } from './sql/unit';
import { firstRevision, NEW_LOCK } from './user-locks';

/**
 * Opening a session in two statements (PostgreSQL): one reads all that matters, the other writes all that follows from it,
 * if nobody has taken the user's lock in between. It is the row of that lock that tells: each who takes it changes its
 * revision, and so does this write.
 */
export class OptimisticOpener {
  private readonly look: Statement;
  private readonly write: Statement;
  private readonly written: Statement;

  constructor(
    private readonly database: Database,
    tables: AuthTables,
    private readonly events: EventWriter,
  ) {
    this.look = tables.statement(
      `WITH made AS (${NEW_LOCK} ON CONFLICT DO NOTHING)
       SELECT ${SESSION_COLUMNS}, COALESCE(l.{lock.credentialsVersion}, 0) AS version,
         COALESCE(l.{lock.revision}, CAST(:revision AS integer)) AS revision,
         ${tables.accountOf('CAST(:userId AS text)')} AS account,
         EXISTS (${ANY_SESSION}) AND NOT EXISTS (${SAME_DEVICE}) AS is_new_device
       FROM (SELECT 1) one LEFT JOIN {lock} l ON l.{lock.userId} = :userId
         LEFT JOIN {session} s ON s.{session.userId} = :userId AND s.{session.state} = 'active'
           AND CAST(:isLimited AS boolean)
       ORDER BY s.{session.createdAt}, s.{session.id}`,
    );
    this.write = tables.statement(
      `WITH won AS (
         UPDATE {lock} SET {lock.revision} = {lock.revision} + 1
         WHERE {lock.userId} = :userId AND {lock.revision} = :revision RETURNING 1 AS one
       ), ended AS (
         UPDATE {session} SET {session.state} = 'revoked', {session.endReason} = 'session_policy', {session.endedAt} = :now,
           {session.sealedAnswer} = NULL, {session.sealedUntil} = NULL
         FROM won WHERE {session.id} = ANY(CAST(:endedIds AS text[])) AND {session.state} = 'active'
         RETURNING {session.id} AS id
       ), opened AS (
         ${INSERT_SESSION} SELECT ${NEW_SESSION} FROM won RETURNING {session.id} AS id
       ), forgotten AS (
         DELETE FROM {failure} USING won
         WHERE {failure.key} IN (${failuresInOrder('postgres', ':failuresOfNetwork', ':failuresOfName')}) RETURNING 1
       ), written AS (SELECT id FROM ended UNION ALL SELECT id FROM opened),
       logged AS (${events.insertOfSessionsIn('written')} RETURNING 1)
       SELECT id FROM written WHERE ${unlessLate(['forgotten', 'logged'])}`,
    );
    this.written = tables.statement(
      `SELECT {session.id} AS id FROM {session} WHERE {session.id} = :id OR ({session.id} = ANY(CAST(:endedIds AS text[]))
         AND {session.endReason} = 'session_policy' AND {session.endedAt} = :now)`,
    );
  }

  /** @returns null where somebody was faster: nothing is written then, and it takes the lock to come to an end */
  async open(command: OpenSession): Promise<OpenOutcome | null> {
    const { credentialsVersion, now, session } = command;
    const { version, revision, account, isNewDevice, active } = await this.see(command);
    if (credentialsVersion !== null && version !== credentialsVersion) return { kind: 'credentials_changed' };
    if (account !== 'active') return { kind: 'credentials_changed' };
    const room = makeRoom(active, command, now);
    if (room.kind === 'limit_reached') return room;
    // A refresh may be about to give such a session new time, for which it needs no lock of the user's.
    if (room.ended.some(({ reason }) => reason === 'expired')) return null;

    const newDevice = command.client.recognisable && isNewDevice;
    const written = await this.writeAll(command, revision, room.ended, newDevice);
    if (!written.has(session.id)) return null;
    // What has ended otherwise meanwhile has been told by whoever ended it.
    const ended = room.ended.filter((one) => written.has(one.session.id));
    return { kind: 'opened', session, ended, newDevice };
  }

  private async see(command: OpenSession): Promise<Seen> {
    const isLimited = command.maxSessions !== null;
    const query = this.look.with({ ...deviceValues(command), revision: firstRevision(), isLimited });
    const rows = await this.database.atomic(() => rowsOf(query), { writesOnce: true });
    const { version, revision, account, is_new_device: isNewDevice } = rows[0]!;
    return {
      version: Number(version),
      revision: Number(revision),
      account,
      isNewDevice: isNewDevice === true,
      active: rows.filter((row) => row['id'] !== null).map(sessionFromRow),
    };
  }

  /** @returns the ids of the sessions that it has written */
  private async writeAll(
    command: OpenSession,
    revision: number,
    ended: readonly EndedSession[],
    newDevice: boolean,
  ): Promise<ReadonlySet<unknown>> {
    const { attempt, client, now, session } = command;
    const endedIds = ended.map((one) => one.session.id);
    const told = ended.flatMap((one) =>
      endEvents([one], client, now).map((event) => ({ event, sessionId: one.session.id })),
    );
    told.push({ event: loginEvent(command, newDevice), sessionId: session.id });
    const { write, written, events } = this;
    const unit = function* (isUnbound: boolean): Unit<readonly Row[]> {
      // Only the first try is without a transaction. One whose answer was lost may have been done: the session has an id that
      // nobody else gave.
      const look = written.with({ id: session.id, endedIds, now });
      const done = isUnbound ? [] : yield* rowsOf(look);
      if (done.some((row) => row['id'] === session.id)) return done;
      const values = {
        ...newSessionValues(command),
        ...events.valuesOfSessions(told),
        revision,
        endedIds,
        failuresOfNetwork: attempt?.network ?? null,
        failuresOfName: attempt?.name ?? null,
        timeLeft: TIME_LEFT,
      };
      const rows = yield* rowsOf(write.with(values));
      // Or it was still under way, and this one has waited for it.
      return isUnbound || rows.length > 0 ? rows : yield* rowsOf(look);
    };
    const rows = await this.database.atomic(unit, { writesOnce: true });
    return new Set(rows.map((row) => row['id']));
  }
}

/** All that an opening depends on, as of one moment. */
interface Seen {
  readonly version: number;
  readonly revision: number;
  readonly account: unknown;
  readonly isNewDevice: boolean;
  /** The user's active sessions, oldest first, where it depends on them. */
  readonly active: readonly SessionRecord[];
}
