type NameKind = 'constraint' | 'table' | 'column';

/** The properties of a driver's error for a failed statement. The messages may contain parameters. */
type DriverError = Readonly<
  Partial<Record<'name' | 'message' | 'sqlMessage' | 'code' | 'errno' | 'severity' | NameKind, unknown>>
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
  'Run AUTH_MIGRATIONS (or AUTH_MIGRATIONS_WITHOUT_USERS if you have your own user table) and your own migrations.';

/** The hints, each with a pattern for the code and the message, separated by a space. */
const HINTS: readonly (readonly [pattern: RegExp, hint: string])[] = [
  [/^(42P01|1146|\S+ no such table:) /, `A table is missing. ${RUN_MIGRATIONS}`],
  [/^(42703|1054|\S+ no such column:) /, `A column is missing. ${RUN_MIGRATIONS}`],
  [
    /^(42804|42883|22P02|22003|22007|1264|1292|1366|SQLITE_MISMATCH|SQLITE_CONSTRAINT_DATATYPE) /,
    'A value does not match the type of its column. Compare the table with its entity.',
  ],
  [/^(1267|3988) /, 'The character set of a column cannot represent a value. Convert the column to utf8mb4.'],
  [/^(23502|1048|1364|SQLITE_CONSTRAINT_NOTNULL) /, 'A required column has no value. Add a default to the column.'],
  [/^(42501|1142|1143) /, 'The database user lacks a privilege. Grant it.'],
  [
    /^(25006|1036|1290|1792|1836|read_only) /,
    'The server is read-only. Connect to the primary, or make the server writable.',
  ],
  [/^in_recovery /, 'The server is a standby. Connect to the primary.'],
  [
    /^(not_ready|\S+ WSREP has not yet prepared) /,
    'The Galera node is not in the primary component, or is not synchronized. Connect to another node.',
  ],
  [
    /^(3032|3100) /,
    'The server is offline, or not an active member of its replication group. Connect to an online member.',
  ],
  [
    /^CONFLICT /,
    'Every retry conflicted with another transaction. Perhaps the database releases row locks before a transaction ends.',
  ],
  [/^57P03 /, 'The server is starting or shutting down.'],
  [/^(25P0[34]|57P0[125]|1053|1927|4031) /, 'The server closed the connection.'],
  [
    /^(CONNECTION_LOST|ECONNRESET|EPIPE|ERR_STREAM_DESTROYED|PROTOCOL_CONNECTION_LOST|0800[036]|08P01) /,
    'The connection was lost.',
  ],
  [/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN) /, 'The server cannot be reached.'],
  [/^POOL_TIMEOUT /, 'No connection became free in time. Enlarge the pool, or look for slow statements.'],
  [/^TIMEOUT /, 'The database did not answer before the deadline.'],
];

/** Matches the messages of errors without a code by which drivers and TypeORM report a lost connection. */
const CONNECTION_LOST = /^Connection (terminated|lost)|connection error|connection is in closed state|not queryable/i;

/** Returns the code of a driver's error, or a code for its name or message, or its name, or `unknown`. */
export function driverCode(error: unknown): string {
  const { errno, code, name, message } = (error ?? {}) as DriverError;
  if (typeof errno === 'number' && errno > 0) return String(errno);
  if (typeof code === 'string') return loggable(code);
  const text = String(message);
  if (name === 'QueryRunnerAlreadyReleasedError' || CONNECTION_LOST.test(text)) return 'CONNECTION_LOST';
  return text === 'timeout exceeded when trying to connect' ? 'POOL_TIMEOUT' : loggable(name);
}

/**
 * Returns the code of a driver's error, and if known, its constraint, table and column, and a hint. Leaves out the
 * message, which may contain parameters. (ASVS 16.2.5)
 */
export function describeDriverError(error: unknown): string {
  const code = driverCode(error);
  const given = (error ?? {}) as DriverError;
  const text = given.sqlMessage ?? given.message;
  const message = typeof text === 'string' ? text : '';
  const names = Object.entries(NAMES_IN_MESSAGES).flatMap(([kind, patterns]) => {
    const name = given[kind as NameKind] ?? patterns.map((pattern) => pattern.exec(message)?.[1]).find(Boolean);
    return typeof name === 'string' && /^[\w$., -]{1,128}$/.test(name) ? [`${kind} ${name}`] : [];
  });
  const hint = HINTS.find(([pattern]) => pattern.test(`${code} ${message}`))?.[1];
  return [code, ...names].join(', ') + (hint ? `. ${hint}` : '');
}

const MAX_CAUSES = 5;

/**
 * Returns the texts to log about an error. `summary`: the name and message in one line, or the description of a
 * database error, whose message may contain parameters. `stack`: the summaries and stacks of the error and its causes.
 */
export function toFailureReport(thrown: unknown): { readonly summary: string; readonly stack: string } {
  const summary = summaryOf(thrown);
  let stack = summary + framesOf(thrown);
  let cause = causeOf(thrown);
  for (let depth = 0; cause !== undefined && cause !== null && depth < MAX_CAUSES; depth++) {
    stack += `\nCaused by: ${summaryOf(cause)}${framesOf(cause)}`;
    cause = causeOf(cause);
  }
  return { summary, stack };
}

function summaryOf(thrown: unknown): string {
  const driverError = driverErrorOf(thrown);
  if (driverError) return `${oneLine(String((thrown as Error).name))}: ${describeDriverError(driverError)}`;
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

/** Returns the error that TypeORM has wrapped, or the given error if the database reported it, otherwise undefined. */
function driverErrorOf(thrown: unknown): unknown {
  const { driverError, code, sqlMessage, severity } = (thrown ?? {}) as DriverError & { driverError?: unknown };
  if (driverError !== undefined) return driverError;
  const isFromDatabase = sqlMessage !== undefined || (severity !== undefined && code !== undefined);
  return isFromDatabase || /^SQLITE_/.test(String(code)) ? thrown : undefined;
}

/** Truncates the text and replaces line breaks, so that a message cannot forge a log entry. (ASVS 16.4.1) */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').slice(0, 1_000);
}

/**
 * Returns a code, name or id if it has at most 64 ASCII letters, digits and `_.-`, and does not begin with `.` or `-`.
 * Otherwise returns `unknown`, so that no value can forge a log entry. (ASVS 16.4.1)
 */
export function loggable(word: unknown): string {
  return typeof word === 'string' && /^\w[\w.-]{0,63}$/.test(word) ? word : 'unknown';
}
