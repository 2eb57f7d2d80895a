import type { DataSource } from 'typeorm';
import {
  AuthEvent,
  AuthLoginFailure,
  AuthPasswordReset,
  AuthRefreshToken,
  AuthSession,
  AuthUserLock,
} from './entities';
import { type Dialect } from './sql/dialect';
import { Statement } from './sql/statement';

/** The names that the statements use for the library's tables. */
const ENTITIES = {
  session: AuthSession,
  refresh: AuthRefreshToken,
  event: AuthEvent,
  failure: AuthLoginFailure,
  reset: AuthPasswordReset,
  lock: AuthUserLock,
};

/** How the account of a session's user is told in SQL; see `EntityUserStore`. */
export interface AccountSql {
  /** `LEFT JOIN ... ON ...`, where `s` is the session. */
  readonly join: string;
  /** An expression that is 'active', 'disabled' or 'deleted'. */
  readonly status: string;
}

/** Compiles the store's statements, all at the start. */
export class AuthTables {
  constructor(
    private readonly dataSource: DataSource,
    readonly dialect: Dialect,
    /** Null where the users are not in the same DataSource. */
    readonly account: AccountSql | null,
  ) {}

  statement(template: string): Statement {
    return new Statement(this.dataSource, ENTITIES, template);
  }

  /** `SELECT` of a session `s` that `sessionFromRow` reads; it can be locked. */
  selectSession(rest: string): Statement {
    return this.statement(`SELECT ${SESSION_COLUMNS} FROM {session} s ${rest}`);
  }

  /** The same with the account of the session's user, for `accountFromRow`, and more columns. */
  selectSessionWithAccount(more: string, rest: string): Statement {
    const { join, status } = this.account ?? { join: '', status: 'NULL' };
    return this.statement(`SELECT ${SESSION_COLUMNS}, ${more}, ${status} AS account FROM {session} s ${join} ${rest}`);
  }

  /** The account of a user, as an expression: 'active' where the users are elsewhere. `userId` is one too. */
  accountOf(userId: string): string {
    if (!this.account) return `'active'`;
    const { join, status } = this.account;
    return `(SELECT ${status} FROM (SELECT ${userId} AS {session.userId}) s ${join})`;
  }
}

/** The columns of a session `s` that `sessionFromRow` reads. */
export const SESSION_COLUMNS = [
  'id AS id',
  'userId AS user_id',
  'state AS state',
  'ipAddress AS ip_address',
  'deviceType AS device_type',
  'osFamily AS os_family',
  'browserFamily AS browser_family',
  'deviceName AS device_name',
  'createdAt AS created_at',
  'authenticatedAt AS authenticated_at',
  'lastActivity AS last_activity',
  'idleExpiresAt AS idle_expires_at',
  'absoluteExpiresAt AS absolute_expires_at',
]
  .map((column) => column.replace(/^(\w+) AS (\w+)$/, 's.{session.$1} AS $2'))
  .join(', ');
