import type { FailureKind } from './telemetry';

type NameKind = 'constraint' | 'table' | 'column';

/** The properties of a driver's error for a failed statement. The messages may contain parameters. */
type DriverError = Readonly<
  Partial<Record<'name' | 'message' | 'sqlMessage' | 'code' | 'errno' | 'severity' | 'driverError' | NameKind, unknown>>
>;

/** Matches names in messages. In these messages, values appear only before the name, so no pattern captures a value. */
const NAMES_IN_MESSAGES: Readonly<Record<NameKind, readonly RegExp[]>> = {
  constraint: [/ for key '([\w$.-]+)'$/],
  table: [/^relation "([\w.]+)" does not exist$/, /^Table '([\w$.-]+)' doesn't exist$/, /^no such table: ([\w.]+)$/],
  column: [
    /^column "?([\w.]+)"? does not exist$/,
    /^no such column: ([\w.]+)$/,
    /^Unknown column '([\w$.]+)' in '[\w ]+'$/,
    /^(?:Column|Field) '([\w$]+)' (?:cannot be null|doesn't have a default value)$/,
    / for column [`'\w$.]*?([\w$]+)[`'] at row \d+$/,
    /^(?:UNIQUE|NOT NULL) constraint failed: ([\w., ]+)$/,
  ],
};

const RUN_MIGRATIONS =
  "Run the library's migrations, which withAuthTables adds to the options of your DataSource, and your own migrations.";

/** What the failure of a statement means. Conflicts and duplicates are rolled back. */
type Meaning = Exclude<FailureKind, 'rolled_back'> | 'conflict' | 'duplicate' | 'unrepresentable';

/**
 * Meanings and hints, by a pattern for the code and the message. `connection_lost`: the outcome is unknown. `read_only`,
 * `in_recovery`, `not_ready`: the statement was not executed, even if it was a COMMIT, but another server may accept it.
 */
const FAILURES: readonly (readonly [pattern: RegExp, meaning: Meaning, hint?: string])[] = [
  // PostgreSQL: serialization failure, deadlock, rejected prepared statement in a transaction. MySQL, MariaDB: deadlock
  // (also a failed certification of Galera), lock wait timeout, conflict in a replication group. SQLite: another writer.
  [/^(40001|40P01|25P02|1213|1205|3101|SQLITE_BUSY|SQLITE_BUSY_SNAPSHOT) /, 'conflict'],
  [/^CONFLICT /, 'conflict', 'Every retry conflicted. Perhaps the database releases row locks too early.'],
  [/^(23505|1062|SQLITE_CONSTRAINT_UNIQUE|SQLITE_CONSTRAINT_PRIMARYKEY) /, 'duplicate'],
  [/^(42P01|1146|\S+ no such table:) /, 'other', `A table is missing. ${RUN_MIGRATIONS}`],
  [/^(42703|1054|\S+ no such column:) /, 'other', `A column is missing. ${RUN_MIGRATIONS}`],
  [
    /^(42804|42883|22P02|22003|22007|1264|1292|1366|SQLITE_MISMATCH|SQLITE_CONSTRAINT_DATATYPE) /,
    'other',
    'A value does not match the type of its column. Compare the table with its entity.',
  ],
  [
    /^(1267|3854|3988|22P05) /,
    'unrepresentable',
    'The character set of a column or database cannot represent a value. Convert the column to utf8mb4, or use UTF8.',
  ],
  [/^(23502|1048|1364|SQLITE_CONSTRAINT_NOTNULL) /, 'other', 'A required column has no value. Add a default to it.'],
  [/^(42501|1142|1143) /, 'other', 'The database user lacks a privilege. Grant it.'],
  [/^(25006|1036|1290|1792|1836|read_only) /, 'read_only', 'The server is read-only. Connect to the primary.'],
  [/^in_recovery /, 'in_recovery', 'The server is a standby. Connect to the primary.'],
  // The code 1047 has a different meaning on servers other than Galera.
  [/^(not_ready|1047 WSREP) /, 'not_ready', 'The Galera node is not synchronized. Connect to another node.'],
  [/^(3032|3100) /, 'not_ready', 'The server is offline, or not an active member of its replication group.'],
  [/^57P03 /, 'not_ready', 'The server is starting or shutting down.'],
  [/^(25P0[34]|57P0[125]|1053|1927|4031) /, 'connection_lost', 'The server closed the connection.'],
  [
    /^(CONNECTION_LOST|ECONNRESET|EPIPE|ERR_STREAM_DESTROYED|PROTOCOL_CONNECTION_LOST|0800[036]|08P01) /,
    'connection_lost',
    'The connection was lost.',
  ],
  // CockroachDB leaves the connection open, but the outcome of the statement is unknown as well.
  [/^40003 /, 'connection_lost'],
  [
    /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ETIMEDOUT) /,
    'connection_lost',
    'The server cannot be reached.',
  ],
  [/^POOL_TIMEOUT /, 'timeout', 'No connection became free in time. Enlarge the pool, or look for slow statements.'],
  [/^TIMEOUT /, 'timeout', 'The database did not answer before the deadline.'],
];

/** Matches the messages of errors without a code by which drivers and TypeORM report a lost connection. */
const CONNECTION_LOST = /^Connection (terminated|lost)|connection error|connection is in closed state|not queryable/i;

/** Returns the code of a driver's error, or else a code for its message, or its name. */
export function failureCode(error: unknown): string {
  const { errno, code, name, message } = unwrap(error);
  if (typeof errno === 'number' && errno > 0) return String(errno);
  if (typeof code === 'string') return loggable(code);
  const text = String(message);
  if (name === 'QueryRunnerAlreadyReleasedError' || CONNECTION_LOST.test(text)) return 'CONNECTION_LOST';
  return text === 'timeout exceeded when trying to connect' ? 'POOL_TIMEOUT' : loggable(name);
}

export function meaningOf(error: unknown): Meaning {
  return classify(error)?.[1] ?? 'other';
}

/** Describes a driver's error by its code, names and a hint, without the message, which may contain parameters. */
export function describeFailure(error: unknown): string {
  const given = unwrap(error);
  const message = messageOf(given);
  const names = Object.entries(NAMES_IN_MESSAGES).flatMap(([kind, patterns]) => {
    const name = given[kind as NameKind] ?? patterns.map((pattern) => pattern.exec(message)?.[1]).find(Boolean);
    return typeof name === 'string' && /^[\w$., -]{1,128}$/.test(name) ? [`${kind} ${name}`] : [];
  });
  const hint = classify(error)?.[2];
  return [failureCode(error), ...names].join(', ') + (hint ? `. ${hint}` : '');
}

function classify(error: unknown): (typeof FAILURES)[number] | undefined {
  const text = `${failureCode(error)} ${messageOf(unwrap(error))}`;
  return FAILURES.find(([pattern]) => pattern.test(text));
}

function messageOf({ sqlMessage, message }: DriverError): string {
  const text = sqlMessage ?? message;
  return typeof text === 'string' ? text : '';
}

/** Returns the driver's error if TypeORM or a `CommitError` wraps it. */
function unwrap(error: unknown): DriverError {
  const given = (error ?? {}) as DriverError;
  return given.driverError === undefined ? given : unwrap(given.driverError);
}

/** Returns what to log about an error: a line, and the lines and stacks of the error and its causes. */
export function toFailureReport(thrown: unknown): { readonly summary: string; readonly stack: string } {
  const summary = summaryOf(thrown);
  let stack = summary + framesOf(thrown);
  let cause = causeOf(thrown);
  for (let depth = 0; cause !== undefined && cause !== null && depth < 5; depth++) {
    stack += `\nCaused by: ${summaryOf(cause)}${framesOf(cause)}`;
    cause = causeOf(cause);
  }
  return { summary, stack };
}

function summaryOf(thrown: unknown): string {
  const driverError = driverErrorOf(thrown);
  if (driverError) return `${oneLine(String((thrown as Error).name))}: ${describeFailure(driverError)}`;
  if (thrown instanceof Error) return oneLine(`${thrown.name}: ${thrown.message}`);
  return typeof thrown === 'string' ? oneLine(thrown) : `${typeof thrown} was thrown instead of an Error`;
}

/** Returns the frames of the stack. Removes the message, because it may contain lines that look like frames. */
function framesOf(thrown: unknown): string {
  if (!(thrown instanceof Error) || typeof thrown.stack !== 'string') return '';
  const at = thrown.stack.indexOf(thrown.message);
  const lines = at < 0 ? [] : thrown.stack.slice(at + thrown.message.length).split('\n');
  return lines.map((line) => (/^\s+at /.test(line) ? `\n${line}` : '')).join('');
}

function causeOf(thrown: unknown): unknown {
  return thrown instanceof Error && !driverErrorOf(thrown) ? thrown.cause : undefined;
}

function driverErrorOf(thrown: unknown): unknown {
  const { driverError, code, sqlMessage, severity } = (thrown ?? {}) as DriverError;
  if (driverError !== undefined) return driverError;
  const isFromDatabase = sqlMessage !== undefined || (severity !== undefined && code !== undefined);
  return isFromDatabase || /^SQLITE_/.test(String(code)) ? thrown : undefined;
}

/** Truncates the text and replaces line breaks, so that a message cannot forge a log entry. (ASVS 16.4.1) */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').slice(0, 1_000);
}

/** Returns a code, name or id of at most 64 harmless characters, or else `unknown`. (ASVS 16.4.1) */
export function loggable(word: unknown): string {
  return typeof word === 'string' && /^\w[\w.-]{0,63}$/.test(word) ? word : 'unknown';
}
