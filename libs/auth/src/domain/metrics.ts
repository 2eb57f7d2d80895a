import type { AuthErrorCode } from './errors';
import type { EndReason } from './session';

/** The kinds of rows that pruning removes or ends. */
export type PruneKind =
  'ended_sessions' | 'sessions' | 'events' | 'login_failures' | 'login_tickets' | 'password_resets';

/**
 * Why a server accepts no writes. `not_ready`: the server is starting, shutting down or offline, or is a node that is
 * not synchronized or not an active member of its cluster.
 * `in_recovery`: the server is a PostgreSQL standby.
 */
export type NotWritableKind = 'read_only' | 'in_recovery' | 'not_ready';

/** Why a database operation failed. */
export type FailureKind = 'timeout' | 'connection_lost' | 'rolled_back' | 'other' | NotWritableKind;

/**
 * The attributes of a measurement. All values come from fixed lists, never from input. `error.type` is absent if there
 * is no error, and `_OTHER` if the error is neither an `AuthError` nor a failed database operation. (OpenTelemetry,
 * semantic conventions)
 */
export interface MetricAttributes {
  readonly 'error.type'?: AuthErrorCode | FailureKind | '_OTHER';
  readonly 'session_auth.end_reason'?: EndReason;
  readonly 'session_auth.prune.kind'?: PruneKind;
}

export interface MetricDescription {
  /** The kind of instrument. A `level` is a current number, such as the number of waiting hashes. */
  readonly kind: 'counter' | 'histogram' | 'level';
  /** Written in UCUM notation: `s` for seconds, or the counted thing enclosed in braces, such as `{session}`. */
  readonly unit: string;
  readonly description: string;
  /** The upper bounds of the buckets of a histogram. */
  readonly buckets?: readonly number[];
}

// The first two lists are the recommendations of the OpenTelemetry semantic conventions for HTTP requests and database
// calls.
const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const CALL_SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];
const PRUNE_SECONDS = [0.1, 0.5, 1, 5, 10, 30, 60, 300, 600];
const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128];

const counter = (unit: string, description: string) => ({ kind: 'counter', unit, description }) as const;
const level = (unit: string, description: string) => ({ kind: 'level', unit, description }) as const;
const histogram = (unit: string, buckets: readonly number[], description: string) =>
  ({ kind: 'histogram', unit, description, buckets }) as const;

/** All metrics of the library. */
export const METRICS = {
  'session_auth.login.duration': histogram(
    's',
    REQUEST_SECONDS,
    'Logins by username and password, including refused logins.',
  ),
  'session_auth.login.failed': counter(
    '{attempt}',
    'Failed attempts: logins, and passwords and codes within sessions or with a login ticket. Unknown usernames are counted too.',
  ),
  'session_auth.refresh.duration': histogram('s', REQUEST_SECONDS, 'Refreshes, including refused refreshes.'),
  'session_auth.token.reused': counter(
    '{token}',
    'Reused refresh tokens, each of which ended the sessions of its user.',
  ),
  'session_auth.token.newer_than_database': counter(
    '{token}',
    'Refresh tokens that are newer than the database, which has probably lost commits.',
  ),
  'session_auth.session.opened': counter('{session}', 'Sessions that were opened.'),
  'session_auth.session.ended': counter('{session}', 'Sessions that ended.'),
  'session_auth.lookup.duration': histogram('s', CALL_SECONDS, 'Lookups of access tokens, including refused tokens.'),
  'session_auth.lookup.batch_size': histogram(
    '{session}',
    BATCH_SIZES,
    'Sessions that were looked up in one statement.',
  ),
  'session_auth.hashing.running': level('{hash}', 'Password hashes that are being computed.'),
  'session_auth.hashing.waiting': level(
    '{hash}',
    'Password hashes that wait for their turn, and attempts that wait for a slot.',
  ),
  'session_auth.prune.duration': histogram('s', PRUNE_SECONDS, 'Pruning runs.'),
  'session_auth.prune.rows': counter('{row}', 'Rows that pruning removed or ended.'),
  'session_auth.database.errors': counter('{error}', 'Database operations that failed after all retries.'),
} as const satisfies Readonly<Record<string, MetricDescription>>;

export type MetricName = keyof typeof METRICS;

type NameOf<Kind extends MetricDescription['kind']> = {
  [Name in MetricName]: (typeof METRICS)[Name]['kind'] extends Kind ? Name : never;
}[MetricName];

export type CounterName = NameOf<'counter'>;
export type HistogramName = NameOf<'histogram'>;
export type LevelName = NameOf<'level'>;
/** Histograms of durations. */
export type DurationName = Extract<HistogramName, `${string}.duration`>;
