import type { DataSource } from 'typeorm';
import type { RequestUser } from '../../domain/request-user';
import {
  AuthEvent,
  AuthLoginFailure,
  AuthLoginTicket,
  AuthPasswordReset,
  AuthSession,
  AuthUserLock,
} from '../entities';
import { greatest, least, type Dialect } from './dialect';
import { columns, Statement } from './statement';
import type { Row } from './transaction';

/** The library's entities except `AuthUser`, by their names in templates. */
const ENTITIES = {
  session: AuthSession,
  event: AuthEvent,
  failure: AuthLoginFailure,
  ticket: AuthLoginTicket,
  reset: AuthPasswordReset,
  lock: AuthUserLock,
};

const SESSION_COLUMNS = `id userId state ipAddress deviceType osFamily browserFamily deviceName createdAt authenticatedAt
  lastActivity`;

/** How a statement that looks up a session reads `request.user` with the account. */
export interface UserSql {
  /** Selects the columns of the user that `fromRow` reads, and the status of the account as `account`. */
  readonly columns: string;
  /** Joins the row of the user to a session `s`. */
  readonly join: string;
  readonly fromRow: (row: Row) => RequestUser;
}

/** How a statement reads the account of a user. */
export interface AccountSql {
  /**
   * An expression for the status of the user of a row `s`, which has the column `session.userId`: 'active',
   * 'disabled' or 'deleted'.
   */
  readonly status: string;
  readonly user: UserSql;
}

/** The configured times. A session also keeps the timeouts with which it was opened. */
export interface SessionTimes {
  readonly idleMs: number;
  readonly absoluteMs: number;
  /** How long an ended session is stored, counted from its login. */
  readonly retentionMs: number;
}

/** Compiles statements on the library's tables, almost all of them when the application starts. */
export class StatementFactory {
  /**
   * When the session `s` ends even if it is refreshed. A lowered timeout applies to open sessions, but a
   * raised timeout does not.
   */
  readonly absoluteEnd: string;
  /** When the session `s` expires without further activity. */
  readonly expiresAt: string;
  readonly retentionMs: string;

  constructor(
    private readonly dataSource: DataSource,
    readonly dialect: Dialect,
    /** Null if a `UserStore` of the application provides the users. */
    readonly account: AccountSql | null,
    private readonly times: SessionTimes,
  ) {
    const { idleMs, absoluteMs, retentionMs } = times;
    this.retentionMs = integerLiteral(retentionMs);
    this.absoluteEnd = least(
      dialect,
      's.{session.absoluteExpiresAt}',
      `s.{session.createdAt} + ${integerLiteral(absoluteMs)}`,
    );
    const idleEnd = `s.{session.lastActivity} + ${integerLiteral(idleMs)}`;
    this.expiresAt = least(dialect, 's.{session.idleExpiresAt}', idleEnd, this.absoluteEnd);
  }

  /** Compiles a statement. */
  statement(template: string): Statement {
    return new Statement(this.dataSource, ENTITIES, template);
  }

  /** Compiles a frequent statement whose text never varies, so that each connection can prepare it once. */
  prepared(template: string): Statement {
    return new Statement(this.dataSource, ENTITIES, template, true);
  }

  /** Returns a function that compiles one statement for each number of rows, when that number is first needed. */
  forCount(template: (count: number) => string): (count: number) => Statement {
    const compiled = new Map<number, Statement>();
    return (count) => {
      let statement = compiled.get(count);
      if (!statement) compiled.set(count, (statement = this.statement(template(count))));
      return statement;
    };
  }

  /** Compiles a SELECT of sessions `s` for `sessionFromRow`. `rest` may contain a clause that locks the rows. */
  selectSession(rest: string): Statement {
    return this.statement(`SELECT ${this.sessionColumns} FROM {session} s ${rest}`);
  }

  /**
   * Compiles a SELECT of sessions `s` with the accounts of their users, for `sessionFromRow` and
   * `accountFromRow`.
   */
  selectSessionWithAccount(rest: string): Statement {
    return this.statement(`SELECT ${this.sessionAndAccountColumns} FROM {session} s ${rest}`);
  }

  /** An expression for the status of the user of `s`, or NULL if only the user store knows it. */
  get accountStatus(): string {
    return this.account?.status ?? 'NULL';
  }

  /** The columns of a session `s` that `sessionFromRow` and `accountFromRow` read. */
  get sessionAndAccountColumns(): string {
    return `${this.sessionColumns}, ${this.accountStatus} AS account`;
  }

  /** The columns of a session `s` that `sessionFromRow` reads. */
  get sessionColumns(): string {
    return `${columns('session', SESSION_COLUMNS, 's.')}, ${this.expiresAt} AS expires_at`;
  }

  /**
   * Returns the assignments that record activity at the instant `at` in a session `s`. The assignments
   * extend the session by its own idle timeout, or by the configured idle timeout if that is shorter.
   */
  activityAt(at: string): string {
    const last = greatest(this.dialect, 's.{session.lastActivity}', at);
    const stored = 's.{session.idleExpiresAt} - s.{session.lastActivity}';
    const allowance = least(this.dialect, stored, integerLiteral(this.times.idleMs));
    // MySQL evaluates assignments from left to right, so the idle end, which depends on the previous
    // activity, is assigned first.
    return `{session.idleExpiresAt} = ${last} + ${allowance}, {session.lastActivity} = ${last}`;
  }
}

/**
 * Formats an integer for SQL. Throws an error for any other value, because the text becomes part of a
 * statement.
 */
function integerLiteral(milliseconds: number): string {
  if (!Number.isSafeInteger(milliseconds)) throw new Error(`${milliseconds} is not a whole number of milliseconds.`);
  return String(milliseconds);
}
