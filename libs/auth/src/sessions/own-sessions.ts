import { Inject, Injectable } from '@nestjs/common';
import type { SessionData, SessionDataPatch } from '../adapters/login-policy';
import type { UserId } from '../adapters/user-store';
import { Clock, isWithinLast } from '../base/clock';
import { invalidAccessToken, standardError, tooBusy } from '../base/errors';
import { actorOf, UUID } from '../base/fields';
import { Database } from '../database/database';
import { forUpdate } from '../database/dialect';
import { StatementFactory } from '../database/statements';
import type { Operation } from '../history/event-log';
import type { SessionInfo } from '../history/signals';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import { assertNotImpersonating, assertSession, Authenticate, type AuthPrincipal } from './authenticate';
import { EndSessions, NO_CLIENT } from './end-sessions';
import { isExpired, patchedData, sessionFromRow, SessionSql, toSessionInfo } from './session';

/** The maximum number of times that a change of session data is tried while others change the data. */
const MAX_DATA_WRITES = 10;

@Injectable()
export class OwnSessions {
  private readonly active;
  private readonly readData;
  private readonly writeData;

  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    private readonly database: Database,
    statements: StatementFactory,
    sql: SessionSql,
    private readonly authentication: Authenticate,
    private readonly endSessions: EndSessions,
    private readonly clock: Clock,
  ) {
    this.active = sql.select(
      `WHERE s.{session.userId} = :userId AND s.{session.state} = 'active'
       ORDER BY s.{session.createdAt} DESC, s.{session.id} DESC`,
    );
    const live = `WHERE s.{session.id} = :id AND s.{session.state} = 'active' AND ${sql.expiresAt} > :now`;
    // The application's transaction may read a snapshot. A lock lets it read and change the current data.
    this.readData = sql.select(`${live} ${forUpdate(statements.dialect)}`, 's.{session.data} AS data');
    this.writeData = statements.statement(
      `UPDATE {session} AS s SET {session.data} = :data ${live} AND COALESCE(s.{session.data}, '') = :dataRead`,
    );
  }

  /** Returns the user's active sessions, newest first. Stores the expiry of the others. */
  async list(userId: UserId, currentId: string | null): Promise<SessionInfo[]> {
    const { rows } = await this.database.run(null, this.active.with({ userId: String(userId) }));
    const sessions = rows.map(sessionFromRow);
    const live = sessions.filter((session) => !isExpired(session, this.clock.now()));
    const command = { userId: String(userId), reason: 'expired' } as const;
    if (live.length < sessions.length) await this.endSessions.end(command, { client: NO_CLIENT, tx: null });
    return (await this.authentication.withLiveActors(live)).map((session) => toSessionInfo(session, currentId));
  }

  async current(principal: AuthPrincipal): Promise<SessionInfo> {
    assertSession(principal);
    const { sessionId } = principal;
    const [found] = await this.authentication.findActive([sessionId]);
    if (!found) throw invalidAccessToken();
    return toSessionInfo(found.session, sessionId);
  }

  /** Changes the data by compare-and-set, so that parallel changes of other keys are not lost. */
  async updateData(principal: AuthPrincipal, patch: SessionDataPatch, op: Operation): Promise<Partial<SessionData>> {
    assertSession(principal);
    const id = principal.sessionId;
    for (let writes = 0; writes < MAX_DATA_WRITES; writes++) {
      const now = this.clock.now();
      const [row] = (await this.database.run(op.tx, this.readData.with({ id, now }))).rows;
      if (!row) throw invalidAccessToken();
      const stored = (row['data'] ?? null) as string | null;
      const data = patchedData(stored, patch);
      const query = this.writeData.with({ id, now, data, dataRead: stored ?? '' });
      if (data === stored || (await this.database.run(op.tx, query)).affected === 1)
        return JSON.parse(data) as Partial<SessionData>;
    }
    throw tooBusy();
  }

  async logout(principal: AuthPrincipal, op: Operation): Promise<void> {
    assertSession(principal);
    const { userId, sessionId } = principal;
    await this.endSessions.end({ userId: String(userId), sessionId, currentId: sessionId, reason: 'logout' }, op);
  }

  /** Returns the number of sessions that this call ended, without those that had already expired. */
  async logoutAll(principal: AuthPrincipal, keepCurrent: boolean, op: Operation): Promise<number> {
    assertSession(principal);
    assertNotImpersonating(principal);
    const { userId, sessionId } = principal;
    const command = { userId: String(userId), currentId: sessionId, endsLogins: true, reason: 'logout_all' } as const;
    const ended = await this.endSessions.end(keepCurrent ? { ...command, exceptId: sessionId } : command, op);
    return ended.filter(({ reason }) => reason !== 'expired').length;
  }

  async endAll(
    userId: UserId,
    options: { readonly except?: string; readonly reason?: 'application' | 'user' | 'admin'; readonly actor?: string },
    op: Operation,
  ): Promise<number> {
    const { except, reason = 'application', actor } = options;
    const by = actor === undefined ? {} : { actor: actorOf(actor) };
    const kept = except === undefined ? {} : { exceptId: String(except).toLowerCase(), needsExcept: true };
    const command = { ...by, ...kept, userId: String(userId), endsLogins: true, reason };
    const ended = await this.endSessions.end(command, op);
    return ended.filter((one) => one.reason === reason).length;
  }

  async revoke(
    userId: UserId,
    sessionId: string,
    op: Operation,
    options: { readonly currentId: string | null; readonly reason: 'user' | 'admin'; readonly actor?: string },
  ): Promise<void> {
    const by = options.actor === undefined ? {} : { actor: actorOf(options.actor) };
    const id = typeof sessionId === 'string' ? sessionId.toLowerCase() : '';
    const command = { ...options, ...by, userId: String(userId), sessionId: id };
    const ended = UUID.test(id) ? await this.endSessions.end(command, op) : [];
    if (!ended.some(({ reason }) => reason === options.reason)) throw standardError('session_not_found');
  }

  /** @throws AuthError `recent_login_required`, `not_allowed_while_impersonating` (ASVS 7.5.1, 7.5.3) */
  assertRecentLogin(principal: AuthPrincipal, withinSeconds: number, methods: readonly string[] = []): void {
    assertNotImpersonating(principal);
    const proofs = new Map(Object.entries(principal.methods ?? {}));
    const instants = methods.length === 0 ? [principal.authenticatedAt] : methods.map((name) => proofs.get(name));
    const now = this.clock.now();
    if (!instants.every((at) => at && isWithinLast(withinSeconds * 1000, at.getTime(), now)))
      throw standardError('recent_login_required');
  }

  /**
   * Checks for a recent login if the options require one to end sessions. (ASVS 7.5.2) An administrator who acts as a user
   * may end only the session `sessionId` if it is the principal's own.
   */
  assertMayEnd(principal: AuthPrincipal, sessionId?: string): void {
    if (sessionId?.toLowerCase() !== principal.sessionId) assertNotImpersonating(principal);
    else if (principal.actor) return;
    const { toEndSessionsSeconds } = this.options.recentLogin;
    if (toEndSessionsSeconds !== false) this.assertRecentLogin(principal, toEndSessionsSeconds);
  }
}
