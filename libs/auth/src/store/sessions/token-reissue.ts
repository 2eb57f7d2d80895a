import { Injectable } from '@nestjs/common';
import type { ReissuedSession } from '../../domain/outcomes';
import type { CurrentSession, OperationContext, NewTokenFamily } from '../../domain/ports/sessions';
import { newEvent } from '../../domain/session-events';
import type { PairExpiries } from '../../domain/tokens';
import { Database } from '../database/database';
import { least } from '../database/dialect';
import { expiriesFromRow, EXPIRY_COLUMNS, sessionFromRow } from '../database/rows';
import { columns } from '../database/statement';
import { StatementFactory } from '../database/statement-factory';
import { affectedBy, firstOf, type Step } from '../database/transaction';
import { EventWriter } from '../events/event-writer';
import { GuardedUpdate } from './guarded-update';
import { END_SESSION_STREAK } from './sql-session-attempt-store';

/**
 * Gives a session that goes on a fresh token pair in a new family, when its user has proved their identity, and ends its
 * failure streak. The previous refresh token is revoked, not used: presenting it is no reuse.
 */
@Injectable()
export class TokenReissue {
  private readonly replace;
  private readonly read;
  private readonly readReissued;
  private readonly confirmed: GuardedUpdate;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    events: EventWriter,
  ) {
    const { dialect, absoluteEnd } = statements;
    const assignments = `{session.accessDigest} = :accessDigest, {session.refreshDigest} = :refreshDigest,
       {session.accessExpiresAt} = ${least(dialect, ':accessExpiresAt', absoluteEnd)},
       {session.refreshExpiresAt} = ${least(dialect, ':refreshExpiresAt', absoluteEnd)},
       {session.familyDigest} = :familyDigest, {session.generation} = 0, {session.authenticatedAt} = :now,
       {session.replaySeed} = NULL, {session.replayUntil} = NULL, {session.firstUsedAt} = NULL,
       ${END_SESSION_STREAK}`;
    const active = `s.{session.id} = :id AND s.{session.state} = 'active'`;
    this.replace = statements.statement(`UPDATE {session} AS s SET ${assignments} WHERE ${active}`);
    const expiries = columns('session', EXPIRY_COLUMNS, 's.');
    this.read = statements.statement(
      `SELECT ${statements.sessionColumns}, ${expiries} FROM {session} s WHERE ${active}`,
    );
    this.readReissued = statements.statement(
      `SELECT ${expiries} FROM {session} s WHERE ${active} AND s.{session.accessDigest} = :accessDigest`,
    );
    this.confirmed = new GuardedUpdate(
      database,
      statements,
      events,
      `${assignments} WHERE ${active} AND s.{session.accessDigest} = :currentAccessDigest`,
      { columns: expiries, everywhere: true },
    );
  }

  /** The session after it, or null where it has ended. Part of a transaction that holds the user's lock. */
  *reissue(id: string, issued: NewTokenFamily, now: number): Step<ReissuedSession | null> {
    yield* affectedBy(this.replace.with({ ...issued, id, now }));
    const row = yield* firstOf(this.read.with({ id }));
    return row && { session: sessionFromRow(row), ...expiriesFromRow(row) };
  }

  /** The same by itself, where the given access token is still the live one; null where it is not. */
  async reissueAfterReauthentication(
    session: CurrentSession,
    issued: NewTokenFamily,
    { now, client }: OperationContext,
  ): Promise<PairExpiries | null> {
    const values = { ...issued, id: session.id, currentAccessDigest: session.accessDigest, now };
    const event = newEvent('reauthentication', session.userId, client, now);
    const row = await this.confirmed.run(values, event);
    if (row) return expiriesFromRow(row);
    // An earlier run of this call, whose result was lost, may have replaced the tokens.
    const { id, accessDigest } = values;
    const [reissued] = (await this.database.autocommit(this.readReissued.with({ id, accessDigest }))).rows;
    return reissued ? expiriesFromRow(reissued) : null;
  }
}
