import type { AccountStatus, OpenOutcome, RotateOutcome } from '../domain/outcomes';
import {
  SessionStore,
  type AccessLookup,
  type Circumstances,
  type EndSessions,
  type OpenSession,
  type RotateToken,
  type SessionLookup,
  type Touch,
} from '../domain/ports/session-store';
import type { EndedSession, SessionLimits, SessionRecord } from '../domain/session';
import type { ActivityWriter } from './activity-writer';
import type { AuthTables } from './auth-tables';
import type { EventWriter } from './event-writer';
import { accountFromRow, sessionFromRow } from './rows';
import type { Database } from './sql/database';
import type { SessionEnder } from './session-ender';
import type { AccessReader } from './access-reader';
import type { SessionOpener } from './session-opener';
import type { TokenRotator } from './token-rotator';

/** The session port on the host's DataSource; each transition has a file of its own. */
export class TypeOrmSessionStore extends SessionStore {
  private readonly byUser;
  private readonly byIds;
  private readonly setAuthenticated;

  constructor(
    private readonly database: Database,
    tables: AuthTables,
    private readonly events: EventWriter,
    private readonly opener: SessionOpener,
    private readonly rotator: TokenRotator,
    private readonly ender: SessionEnder,
    private readonly activity: ActivityWriter,
    private readonly reader: AccessReader,
  ) {
    super();
    this.byUser = tables.selectSession(
      `WHERE s.{session.userId} = :userId AND s.{session.state} = 'active'
       ORDER BY s.{session.createdAt} DESC, s.{session.id} DESC`,
    );
    this.byIds = tables.selectSessionWithAccount(
      '1 AS one',
      `WHERE s.{session.id} IN (:ids...) AND s.{session.state} = 'active'`,
    );
    this.setAuthenticated = tables.statement(
      `UPDATE {session} SET {session.authenticatedAt} = :now WHERE {session.id} = :id AND {session.state} = 'active'`,
    );
  }

  findByAccessDigest(digest: string): Promise<AccessLookup | null> {
    return this.reader.find(digest);
  }

  ownerOfRefreshDigest(digest: string): Promise<string | null> {
    return this.rotator.ownerOf(digest);
  }

  open(command: OpenSession): Promise<OpenOutcome> {
    return this.opener.open(command);
  }

  rotate(command: RotateToken): Promise<RotateOutcome> {
    return this.rotator.rotate(command);
  }

  end(command: EndSessions): Promise<readonly EndedSession[]> {
    return this.events.revoke((write) => this.ender.endAndTell(command, write));
  }

  endIfGone(userId: string, account: AccountStatus | null, at: Circumstances): Promise<readonly EndedSession[]> {
    return this.events.revoke((write) => this.ender.endIfGone(userId, account, at, write));
  }

  expire(userId: string, now: number, limits: SessionLimits): Promise<readonly EndedSession[]> {
    return this.database.atomic(() => this.ender.expire(userId, now, limits));
  }

  async reauthenticate(id: string, now: number): Promise<boolean> {
    return (await this.database.single(this.setAuthenticated.with({ id, now }))).affected === 1;
  }

  async listActive(userId: string): Promise<readonly SessionRecord[]> {
    return (await this.database.single(this.byUser.with({ userId }))).rows.map(sessionFromRow);
  }

  async findActive(ids: readonly string[]): Promise<readonly SessionLookup[]> {
    const { rows } = await this.database.single(this.byIds.with({ ids }));
    return rows.map((row) => ({ session: sessionFromRow(row), account: accountFromRow(row) }));
  }

  touch(touches: readonly Touch[], limits: SessionLimits): Promise<readonly Touch[]> {
    return this.activity.write(touches, limits);
  }
}
