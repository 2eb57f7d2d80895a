import { Injectable } from '@nestjs/common';
import type { CurrentSession, OperationContext, NewTokenFamily } from '../../domain/ports/sessions';
import type { SessionRecord } from '../../domain/session';
import { newEvent } from '../../domain/session-events';
import { Database } from '../database/database';
import { least } from '../database/dialect';
import { sessionFromRow } from '../database/rows';
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
  private readonly isReissued;
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
    this.read = statements.selectSession(`WHERE ${active}`);
    this.isReissued = statements.statement(
      `SELECT 1 AS one FROM {session} s WHERE ${active} AND s.{session.accessDigest} = :accessDigest`,
    );
    this.confirmed = new GuardedUpdate(
      database,
      statements,
      events,
      `${assignments} WHERE ${active} AND s.{session.accessDigest} = :currentAccessDigest`,
    );
  }

  /** The session after it, or null where it has ended. Part of a transaction that holds the user's lock. */
  *reissue(id: string, issued: NewTokenFamily, now: number): Step<SessionRecord | null> {
    yield* affectedBy(this.replace.with({ ...issued, id, now }));
    const row = yield* firstOf(this.read.with({ id }));
    return row && sessionFromRow(row);
  }

  /** The same by itself, where the given access token is still the live one. Returns whether it was. */
  async reissueAfterReauthentication(
    session: CurrentSession,
    issued: NewTokenFamily,
    { now, client }: OperationContext,
  ): Promise<boolean> {
    const values = { ...issued, id: session.id, currentAccessDigest: session.accessDigest, now };
    const event = newEvent('reauthentication', session.userId, client, now);
    if ((await this.confirmed.run(values, event)) !== null) return true;
    // An earlier run of this call, whose result was lost, has replaced the tokens.
    const { id, accessDigest } = values;
    return (await this.database.autocommit(this.isReissued.with({ id, accessDigest }))).rows.length > 0;
  }
}
