import { Injectable } from '@nestjs/common';
import { Database } from '../database/database';
import { forUpdate } from '../database/dialect';
import { columns, type ParameterValues, StatementFactory } from '../database/statements';
import { changeAll, firstOf, type Row, type Transaction } from '../database/transaction';
import type { JoinedTransaction } from '../database/joined-transaction';
import { EventLog, type WriteEvents } from '../history/event-log';
import type { FailedSessionAttempt } from '../passwords/session-attempts';
import type { CurrentSession } from '../sessions/authenticate';
import { endEvents, EndSessions } from '../sessions/end-sessions';
import { isProvedAt, withProvenMethods } from '../sessions/proofs';
import { type EndedSession, sessionFromRow, SessionSql, toEndedSessionAt } from '../sessions/session';
import type { Admission, CountedFailure } from './limits';
import {
  admissionInSession,
  countSessionFailure,
  delimitedMethod,
  NO_SESSION_STREAK,
  sessionSlotExpiresAt,
  type SessionStreak,
} from './session-streak';

/** Stores the failure streak of a session in the row of the session. Each call is atomic. */
export abstract class SessionAttemptStore {
  /** Takes the slot of an attempt if it is admitted. Returns null if the session is not active. */
  abstract admit(sessionId: string, now: number, tx: JoinedTransaction | null): Promise<Admission | null>;
  /** Releases the slot of an attempt that was admitted at this instant, unless `fail` has released it. */
  abstract release(sessionId: string, admittedAt: number, tx: JoinedTransaction | null): Promise<void>;
  /**
   * Adds a proven method to the session. Ends the failure streak unless another method has failed
   * and not succeeded since. Returns false if the session has ended or the token was replaced.
   */
  abstract recordProof(
    session: CurrentSession,
    method: string,
    now: number,
    tx: JoinedTransaction | null,
  ): Promise<boolean>;
  /** Counts a failure and records its events. The 100th consecutive failure ends the session. */
  abstract fail(
    attempt: FailedSessionAttempt,
    tx: JoinedTransaction | null,
  ): Promise<{ counted: CountedFailure; ended: readonly EndedSession[] }>;
}

/** The stored methods that have failed and not succeeded since, without `:succeeded`. */
const STILL_FAILED = `REPLACE(COALESCE({session.failedMethods}, ''), :succeeded, '')`;

/**
 * The assignments after a success of the method `:succeeded`, which is formatted by `delimitedMethod`, or
 * empty for none. The assignments end the failure streak of the session unless another method has failed
 * and not succeeded since, so that knowing the password does not allow further guesses of a code. The
 * failed methods come last, because MySQL evaluates assignments from left to right.
 */
export const END_SESSION_STREAK = `
  {session.failureCount} = CASE WHEN ${STILL_FAILED} = '' THEN NULL ELSE {session.failureCount} END,
  {session.attemptsDelayedUntil} = CASE WHEN ${STILL_FAILED} = '' THEN NULL ELSE {session.attemptsDelayedUntil} END,
  {session.attemptPendingUntil} = NULL, {session.failedMethods} = ${STILL_FAILED}`;

/** Stores the failure streaks and the proven methods of sessions in the rows of the sessions. */
@Injectable()
export class SqlSessionAttemptStore extends SessionAttemptStore {
  private readonly lockActive;
  private readonly takeSlot;
  private readonly releaseSlot;
  private readonly writeStreak;
  private readonly addMethod;
  private readonly readMethods;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    sql: SessionSql,
    private readonly events: EventLog,
    private readonly endSessions: EndSessions,
  ) {
    super();
    const streak = columns('session', 'failureCount failedMethods attemptPendingUntil attemptsDelayedUntil', 's.');
    this.lockActive = statements.statement(
      `SELECT ${sql.columns}, ${streak} FROM {session} s
       WHERE s.{session.id} = :sessionId AND s.{session.state} = 'active' ${forUpdate(statements.dialect)}`,
    );
    const isAsRead = `{session.id} = :sessionId AND {session.state} = 'active'
         AND COALESCE({session.failureCount}, 0) = :failuresRead
         AND COALESCE({session.attemptPendingUntil}, 0) = :pendingRead
         AND COALESCE({session.attemptsDelayedUntil}, 0) = :delayedRead`;
    this.takeSlot = statements.statement(
      `UPDATE {session} SET {session.attemptPendingUntil} = :slot WHERE ${isAsRead}`,
    );
    this.releaseSlot = statements.statement(
      `UPDATE {session} SET {session.attemptPendingUntil} = NULL
       WHERE {session.id} = :sessionId AND {session.attemptPendingUntil} = :slot`,
    );
    const live = `{session.id} = :id AND {session.state} = 'active' AND {session.accessDigest} = :accessDigest`;
    this.addMethod = statements.statement(
      `UPDATE {session} SET {session.methods} = :methods, ${END_SESSION_STREAK}
       WHERE ${live} AND {session.methods} = :methodsRead`,
    );
    this.readMethods = statements.statement(
      `SELECT ${columns('session', 'methods failedMethods')} FROM {session} WHERE ${live}`,
    );
    this.writeStreak = statements.statement(
      `UPDATE {session} SET {session.failureCount} = :failures, {session.failedMethods} = :failedMethods,
         {session.attemptPendingUntil} = NULL, {session.attemptsDelayedUntil} = :delayedUntil
       WHERE ${isAsRead}`,
    );
  }

  admit(sessionId: string, now: number, tx: JoinedTransaction | null): Promise<Admission | null> {
    const call = { sessionId, now, hasTaken: false };
    return this.database.transaction(tx, () => this.admitLocked(call), { anyIsolation: true, retryUnknownCommit: true });
  }

  async release(sessionId: string, admittedAt: number, tx: JoinedTransaction | null): Promise<void> {
    await this.database.run(tx, this.releaseSlot.with({ sessionId, slot: sessionSlotExpiresAt(admittedAt) }));
  }

  async recordProof(
    { id, accessDigest, methods: read }: CurrentSession,
    method: string,
    now: number,
    tx: JoinedTransaction | null,
  ): Promise<boolean> {
    const succeeded = delimitedMethod(method);
    for (let before = read; ;) {
      const methods = withProvenMethods(before, [method], now);
      const values = { id, accessDigest, methodsRead: before, methods, succeeded };
      if ((await this.database.run(tx, this.addMethod.with(values))).affected === 1) return true;
      const [found] = (await this.database.run(tx, this.readMethods.with({ id, accessDigest }))).rows;
      if (!found) return false;
      const stored = String(found['methods']);
      // If the method was proven at this instant and has not failed since, the proof is stored, for
      // example by an earlier run of this call, whose result was lost. Otherwise, if the methods
      // have changed since they were read, the update is repeated with the stored methods.
      const hasFailed = failedMethodsIn(found).includes(succeeded);
      if (isProvedAt(stored, method, now) && !hasFailed) return true;
      if (stored === before) return false;
      before = stored;
    }
  }

  /** Counts a failure. Runs as a revocation, to count the failure even if its events cannot be written. */
  fail(
    attempt: FailedSessionAttempt,
    tx: JoinedTransaction | null,
  ): Promise<{ counted: CountedFailure; ended: readonly EndedSession[] }> {
    return this.events.revoke(tx, (write) => this.failLocked(attempt, write));
  }

  private *admitLocked(call: { sessionId: string; now: number; hasTaken: boolean }): Transaction<Admission | null> {
    const { sessionId, now } = call;
    const row = yield* firstOf(this.lockActive.with({ sessionId }));
    if (!row) return null;
    const streak = streakFromRow(row);
    const slot = sessionSlotExpiresAt(now);
    // If the response to COMMIT was lost, a further run may find the slot that an earlier run has taken.
    if (call.hasTaken && streak.pendingUntil === slot) return { kind: 'admitted' };
    const admission = admissionInSession(streak, now);
    if (admission.kind !== 'admitted') return admission;
    yield* changeAll(this.takeSlot.with({ sessionId, slot, ...unchangedStreakValues(streak) }), 1);
    call.hasTaken = true;
    return admission;
  }

  private *failLocked(
    { sessionId, method, now, client, throttleFrom, events }: FailedSessionAttempt,
    write: WriteEvents,
  ): Transaction<{ counted: CountedFailure; ended: readonly EndedSession[] }> {
    // Without a row, the session has ended in the meantime. The failure is recorded nevertheless.
    const row = yield* firstOf(this.lockActive.with({ sessionId }));
    const before = row ? streakFromRow(row) : NO_SESSION_STREAK;
    const { streak, counted, endsSession } = countSessionFailure(before, method, now, throttleFrom);
    if (row) yield* changeAll(this.writeStreak.with({ sessionId, ...streak, ...unchangedStreakValues(before) }), 1);
    const ended = row && endsSession ? [toEndedSessionAt(sessionFromRow(row), now, 'failed_reauthentication')] : [];
    yield* this.endSessions.storeEnded(ended, now);
    yield* write([...events(counted), ...endEvents(ended, client, now)]);
    return { counted, ended };
  }
}

/** Returns the parameters of the condition that compares the stored streak with the streak that was read. */
function unchangedStreakValues({ failures, pendingUntil, delayedUntil }: SessionStreak): ParameterValues {
  return { failuresRead: failures, pendingRead: pendingUntil, delayedRead: delayedUntil };
}

function failedMethodsIn(row: Row): string {
  return (row['failed_methods'] as string | null) ?? '';
}

function streakFromRow(row: Row): SessionStreak {
  return {
    failures: Number(row['failure_count'] ?? 0),
    failedMethods: failedMethodsIn(row),
    pendingUntil: Number(row['attempt_pending_until'] ?? 0),
    delayedUntil: Number(row['attempts_delayed_until'] ?? 0),
  };
}
