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

/** The names of the library's tables in statements. */
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

/** How the look-up of a session reads `request.user` with the account. */
export interface UserSql {
  /** The columns that `fromRow` reads, and the status as `account`. */
  readonly columns: string;
  /** Joins the user's row to that of a session `s`. */
  readonly join: string;
  readonly fromRow: (row: Row) => RequestUser;
}

/** How statements read the account of a user. */
export interface AccountSql {
  /** An expression, 'active', 'disabled' or 'deleted', for the user of a row `s` that has the column of a session's user. */
  readonly status: string;
  /** Null where `request.user` is not read. */
  readonly user: UserSql | null;
}

/** The times in force. A session has the timeouts that it was opened with besides. */
export interface SessionTimes {
  readonly idleMs: number;
  readonly absoluteMs: number;
  /** For how long a session is kept after its login, ended or not. */
  readonly retentionMs: number;
}

/** Compiles the library's statements when the application starts. */
export class StatementFactory {
  /** The instant from which on no refresh extends the session `s`. A lowered timeout applies at once, a raised one does not. */
  readonly absoluteEnd: string;
  /** When the session `s` expires if nothing happens. */
  readonly expiresAt: string;
  readonly retentionMs: string;

  constructor(
    private readonly dataSource: DataSource,
    readonly dialect: Dialect,
    /** Null where the users are not in the same DataSource. */
    readonly account: AccountSql | null,
    private readonly times: SessionTimes,
  ) {
    const { idleMs, absoluteMs, retentionMs } = times;
    this.retentionMs = whole(retentionMs);
    this.absoluteEnd = least(dialect, 's.{session.absoluteExpiresAt}', `s.{session.createdAt} + ${whole(absoluteMs)}`);
    const idleEnd = `s.{session.lastActivity} + ${whole(idleMs)}`;
    this.expiresAt = least(dialect, 's.{session.idleExpiresAt}', idleEnd, this.absoluteEnd);
  }

  statement(template: string): Statement {
    return new Statement(this.dataSource, ENTITIES, template);
  }

  /** A statement that runs often, whose text never varies: the server prepares it once per connection. */
  prepared(template: string): Statement {
    return new Statement(this.dataSource, ENTITIES, template, true);
  }

  /** A statement for each number of rows, compiled when it is first needed. */
  forCount(template: (count: number) => string): (count: number) => Statement {
    const compiled = new Map<number, Statement>();
    return (count) => {
      let statement = compiled.get(count);
      if (!statement) compiled.set(count, (statement = this.statement(template(count))));
      return statement;
    };
  }

  /** `SELECT` of sessions `s` that `sessionFromRow` reads; rows can be locked. */
  selectSession(rest: string): Statement {
    return this.statement(`SELECT ${this.sessionColumns} FROM {session} s ${rest}`);
  }

  /** The same with the account of each session's user, which `accountFromRow` reads. */
  selectSessionWithAccount(rest: string): Statement {
    return this.statement(`SELECT ${this.sessionAndAccountColumns} FROM {session} s ${rest}`);
  }

  /** The account of the user of `s`; NULL where only the user store knows it. */
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
   * The assignments of activity at the instant `at` to a session `s`, which then goes on for as long as it could before, or
   * for the idle timeout in force if that is shorter.
   */
  activityAt(at: string): string {
    const last = greatest(this.dialect, 's.{session.lastActivity}', at);
    const stored = 's.{session.idleExpiresAt} - s.{session.lastActivity}';
    const allowance = least(this.dialect, stored, whole(this.times.idleMs));
    // MySQL assigns from left to right: the idle end is computed before the activity that it is computed from changes.
    return `{session.idleExpiresAt} = ${last} + ${allowance}, {session.lastActivity} = ${last}`;
  }
}

/** Checked options are whole numbers; nothing else may become part of a statement. */
function whole(milliseconds: number): string {
  if (!Number.isSafeInteger(milliseconds)) throw new Error(`${milliseconds} is not a whole number of milliseconds.`);
  return String(milliseconds);
}
