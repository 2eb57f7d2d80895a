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
];

/** The driver's own code of an error. */
export function driverCode(error: unknown): string {
  const { errno, code, name } = (error ?? {}) as DriverError;
  if (typeof errno === 'number' && errno > 0) return String(errno);
  return loggable(code ?? name);
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
