import { loggable } from './loggable';

/** What the drivers report of a failed statement. `message` and `detail` may contain its parameters. */
interface DriverError {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
  readonly errno?: unknown;
  readonly sqlMessage?: unknown;
  readonly severity?: unknown;
  readonly table?: unknown;
  readonly column?: unknown;
  readonly constraint?: unknown;
}

/** Names of the schema in messages that contain no values, or only before the name. */
const NAMES_IN_MESSAGES: Readonly<Record<'table' | 'column' | 'constraint', readonly RegExp[]>> = {
  table: [/^relation "([\w.]+)" does not exist$/, /^Table '([\w$.-]+)' doesn't exist$/, /^no such table: ([\w.]+)$/],
  column: [
    /^column "?([\w.]+)"? does not exist$/,
    /^no such column: ([\w.]+)$/,
    /^Unknown column '([\w$.]+)' in '[\w ]+'$/,
    /^(?:Column|Field) '([\w$]+)' (?:cannot be null|doesn't have a default value)$/,
    / for column [`'\w$.]*?([\w$]+)[`'] at row \d+$/,
    /^(?:UNIQUE|NOT NULL) constraint failed: ([\w., ]+)$/,
  ],
  constraint: [/ for key '([\w$.-]+)'$/],
};

const RUN_MIGRATIONS =
  'run the migrations, AUTH_MIGRATIONS (AUTH_MIGRATIONS_WITHOUT_USERS beside users of your own) and your own.';

const HINTS: readonly (readonly [codes: RegExp, message: RegExp | null, hint: string])[] = [
  [/^(42P01|1146)$/, /^no such table: /, `A table is missing: ${RUN_MIGRATIONS}`],
  [/^(42703|1054)$/, /^no such column: /, `A column is missing: ${RUN_MIGRATIONS}`],
  [
    /^(42804|42883|22P02|22003|22007|1264|1292|1366|SQLITE_MISMATCH|SQLITE_CONSTRAINT_DATATYPE)$/,
    null,
    'A value does not have the type of its column: compare the table with its entity.',
  ],
  [/^(1267|3988)$/, null, 'The character set of a column cannot represent a value: convert the column to utf8mb4.'],
  [/^(23502|1048|1364|SQLITE_CONSTRAINT_NOTNULL)$/, null, 'A column needs a value: give it a default.'],
  [/^(42501|1142|1143)$/, null, 'The database user lacks a privilege.'],
  [
    /^(25006|1036|1290|1792|1836|read_only)$/,
    null,
    'The server is read-only: it is no primary, or was set to read-only.',
  ],
  [/^in_recovery$/, null, 'The server is a standby: connect to the primary.'],
  [/^not_ready$/, /^WSREP has not yet prepared/, 'The node is not part of a primary component of Galera.'],
  [/^(3032|3100)$/, null, 'The server is offline, or not a member of its group.'],
  [/^CONFLICT$/, null, 'Rows changed after they were read, again and again: the database does not keep them locked.'],
  [/^57P03$/, null, 'The server is starting or shutting down.'],
  [/^(25P03|57P0[125]|1053|1927|4031)$/, null, 'The server closed the connection.'],
  [
    /^(CONNECTION_LOST|ECONNRESET|EPIPE|ERR_STREAM_DESTROYED|PROTOCOL_CONNECTION_LOST|0800[036]|08P01)$/,
    null,
    'The connection was lost.',
  ],
  [/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/, null, 'The server cannot be reached.'],
  [/^POOL_TIMEOUT$/, null, 'No connection became free in time: enlarge the pool, or look for slow statements.'],
  [/^TIMEOUT$/, null, 'No answer before the deadline.'],
];

/** How the drivers, and TypeORM, say without a code that the connection broke. */
const LOST_IN_WORDS = /^Connection (terminated|lost)|connection error|connection is in closed state|not queryable/i;

/** Codes for errors that have none. */
const CODES_FOR_WORDS: readonly (readonly [message: RegExp, code: string])[] = [
  [LOST_IN_WORDS, 'CONNECTION_LOST'],
  [/^timeout exceeded when trying to connect$/, 'POOL_TIMEOUT'],
];

/** The driver's own code of an error. */
export function driverCode(error: unknown): string {
  const { errno, code, name, message } = (error ?? {}) as DriverError;
  if (typeof errno === 'number' && errno > 0) return String(errno);
  if (typeof code === 'string') return loggable(code);
  if (name === 'QueryRunnerAlreadyReleasedError') return 'CONNECTION_LOST';
  return CODES_FOR_WORDS.find(([words]) => words.test(String(message)))?.[1] ?? loggable(name);
}

/** Whether an error comes from a driver of a database. */
export function isDriverError(error: unknown): boolean {
  const { code, sqlMessage, severity } = (error ?? {}) as DriverError;
  return sqlMessage !== undefined || (severity !== undefined && code !== undefined) || /^SQLITE_/.test(String(code));
}

/** The code of a driver's error, what it names of the schema, and a hint; never its message. (ASVS 16.4.1) */
export function describeDriverError(error: unknown): string {
  const code = driverCode(error);
  const given = (error ?? {}) as DriverError;
  const text = given.sqlMessage ?? given.message;
  const message = typeof text === 'string' ? text : '';
  const names = (['constraint', 'table', 'column'] as const).flatMap((kind) => {
    const name = given[kind] ?? NAMES_IN_MESSAGES[kind].map((pattern) => pattern.exec(message)?.[1]).find(Boolean);
    return typeof name === 'string' && /^[\w$., -]{1,128}$/.test(name) ? [`${kind} ${name}`] : [];
  });
  const hint = HINTS.find(([codes, pattern]) => codes.test(code) || pattern?.test(message))?.[2];
  return [[code, ...names].join(', '), ...(hint ? [hint] : [])].join('. ');
}
