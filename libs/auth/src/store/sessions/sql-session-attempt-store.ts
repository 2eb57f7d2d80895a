import { Injectable } from '@nestjs/common';
import type { Admission, CountedFailure } from '../../domain/failure-streak';
import { type FailedSessionAttempt, SessionAttemptStore } from '../../domain/ports/accounts';
import type { CurrentSession } from '../../domain/ports/sessions';
import { isProvedAt, withProvenMethods } from '../../domain/proofs';
import { endingAt, type EndedSession } from '../../domain/session';
import { endEvents } from '../../domain/session-events';
import {
  admissionInSession,
  failedInSession,
  NO_SESSION_STREAK,
  slotInSession,
  type SessionStreak,
} from '../../domain/session-streak';
import { Database } from '../database/database';
import { forUpdate } from '../database/dialect';
import { sessionFromRow } from '../database/rows';
import { columns, type ParameterValues } from '../database/statement';
import { StatementFactory } from '../database/statement-factory';
import { changeAll, firstOf, type Row, type Transaction } from '../database/transaction';
import type { WriteEvents } from '../events/revocation-runner';
import { SessionRevocation } from './session-revocation';

/** The assignments that end the failure streak of a session. */
export const END_SESSION_STREAK =
  '{session.failureCount} = NULL, {session.attemptPendingUntil} = NULL, {session.attemptsDelayedUntil} = NULL';

/** The failure streaks of sessions, in their rows. */
@Injectable()
export class SqlSessionAttemptStore extends SessionAttemptStore {
  private readonly lockActive;
  private readonly takeSlot;
  private readonly returnSlot;
  private readonly writeStreak;
  private readonly addMethod;
  private readonly readMethods;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    private readonly revocation: SessionRevocation,
  ) {
    super();
    const streak = columns('session', 'failureCount attemptPendingUntil attemptsDelayedUntil', 's.');
    this.lockActive = statements.statement(
      `SELECT ${statements.sessionColumns}, ${streak} FROM {session} s
       WHERE s.{session.id} = :sessionId AND s.{session.state} = 'active' ${forUpdate(statements.dialect)}`,
    );
    const isAsRead = `{session.id} = :sessionId AND {session.state} = 'active'
         AND COALESCE({session.failureCount}, 0) = :failuresRead
         AND COALESCE({session.attemptPendingUntil}, 0) = :pendingRead
         AND COALESCE({session.attemptsDelayedUntil}, 0) = :delayedRead`;
    this.takeSlot = statements.statement(
      `UPDATE {session} SET {session.attemptPendingUntil} = :slot WHERE ${isAsRead}`,
    );
    this.returnSlot = statements.statement(
      `UPDATE {session} SET {session.attemptPendingUntil} = NULL
       WHERE {session.id} = :sessionId AND {session.attemptPendingUntil} = :slot`,
    );
    const live = `{session.id} = :id AND {session.state} = 'active' AND {session.accessDigest} = :accessDigest`;
    this.addMethod = statements.statement(
      `UPDATE {session} SET {session.methods} = :methods, ${END_SESSION_STREAK}
       WHERE ${live} AND {session.methods} = :methodsRead`,
    );
    this.readMethods = statements.statement(`SELECT {session.methods} AS methods FROM {session} WHERE ${live}`);
    this.writeStreak = statements.statement(
      `UPDATE {session} SET {session.failureCount} = :failures, {session.attemptPendingUntil} = NULL,
         {session.attemptsDelayedUntil} = :delayedUntil
       WHERE ${isAsRead}`,
    );
  }

  admit(sessionId: string, now: number): Promise<Admission | null> {
    const call = { sessionId, now, hasTaken: false };
    return this.database.transaction(() => this.admitLocked(call), { anyIsolation: true, retryUnknownCommit: true });
  }

  async release(sessionId: string, admittedAt: number): Promise<void> {
    await this.database.autocommit(this.returnSlot.with({ sessionId, slot: slotInSession(admittedAt) }));
  }

  async prove({ id, accessDigest, methods: read }: CurrentSession, method: string, now: number): Promise<boolean> {
    for (let before = read; ;) {
      const values = { id, accessDigest, methodsRead: before, methods: withProvenMethods(before, [method], now) };
      if ((await this.database.autocommit(this.addMethod.with(values))).affected === 1) return true;
      const [found] = (await this.database.autocommit(this.readMethods.with({ id, accessDigest }))).rows;
      if (!found) return false;
      const methods = String(found['methods']);
      // An earlier run, whose result was lost, has added it. Otherwise another method was proved meanwhile.
      if (isProvedAt(methods, method, now)) return true;
      if (methods === before) return false;
      before = methods;
    }
  }

  /** A failure must be counted although it cannot be recorded: it runs as a revocation does. */
  fail(attempt: FailedSessionAttempt): Promise<{ counted: CountedFailure; ended: readonly EndedSession[] }> {
    return this.revocation.run((write) => this.failLocked(attempt, write));
  }

  private *admitLocked(call: { sessionId: string; now: number; hasTaken: boolean }): Transaction<Admission | null> {
    const { sessionId, now } = call;
    const row = yield* firstOf(this.lockActive.with({ sessionId }));
    if (!row) return null;
    const streak = streakFromRow(row);
    const slot = slotInSession(now);
    // Run again after its COMMIT went through unnoticed, it finds its own slot taken.
    if (call.hasTaken && streak.pendingUntil === slot) return { kind: 'admitted' };
    const admission = admissionInSession(streak, now);
    if (admission.kind !== 'admitted') return admission;
    yield* changeAll(this.takeSlot.with({ sessionId, slot, ...asRead(streak) }), 1);
    call.hasTaken = true;
    return admission;
  }

  private *failLocked(
    { sessionId, now, client, throttleFrom, events }: FailedSessionAttempt,
    write: WriteEvents,
  ): Transaction<{ counted: CountedFailure; ended: readonly EndedSession[] }> {
    // Without a row the session has ended meanwhile. The failure is recorded all the same.
    const row = yield* firstOf(this.lockActive.with({ sessionId }));
    const before = row ? streakFromRow(row) : NO_SESSION_STREAK;
    const { streak, counted, endsSession } = failedInSession(before, now, throttleFrom);
    if (row) yield* changeAll(this.writeStreak.with({ sessionId, ...streak, ...asRead(before) }), 1);
    const ended = row && endsSession ? [endingAt(sessionFromRow(row), now, 'failed_reauthentication')] : [];
    yield* this.revocation.storeEnded(ended, now);
    yield* write([...events(counted), ...endEvents(ended, client, now)]);
    return { counted, ended };
  }
}

/** The parameters of the condition that the streak is the one that was read. */
function asRead({ failures, pendingUntil, delayedUntil }: SessionStreak): ParameterValues {
  return { failuresRead: failures, pendingRead: pendingUntil, delayedRead: delayedUntil };
}

function streakFromRow(row: Row): SessionStreak {
  return {
    failures: Number(row['failure_count'] ?? 0),
    pendingUntil: Number(row['attempt_pending_until'] ?? 0),
    delayedUntil: Number(row['attempts_delayed_until'] ?? 0),
  };
}
