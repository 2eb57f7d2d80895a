import type { AuthErrorCode } from './errors';
import type { EndReason } from './session';

/** What a clean-up does, by kind of row. */
export type PruneKind =
  | 'expired_sessions'
  | 'sealed_answers'
  | 'refresh_tokens'
  | 'sessions'
  | 'events'
  | 'login_failures'
  | 'password_resets';

/** How the database failed. */
export type FailureKind = 'timeout' | 'connection_lost' | 'rolled_back' | 'other';

/**
 * What may be told beside a measurement: words of a closed list, never anything that a client or a user decides.
 * `error.type` is left out where nothing went wrong; `_OTHER` is what has no name. (OpenTelemetry, semantic conventions)
 */
export interface MetricAttributes {
  readonly 'error.type'?: AuthErrorCode | FailureKind | '_OTHER';
  readonly 'session_auth.end_reason'?: EndReason;
  readonly 'session_auth.prune.kind'?: PruneKind;
}

export interface MetricDescription {
  /** `level`: how many there are now. */
  readonly kind: 'counter' | 'histogram' | 'level';
  /** In the writing of UCUM: seconds, or what is counted in braces. */
  readonly unit: string;
  readonly description: string;
  /** Upper bounds of the buckets of a histogram. */
  readonly buckets?: readonly number[];
}

/** Those that the semantic conventions advise for requests, and for calls to databases. */
const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const CALL_SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];
const PRUNE_SECONDS = [0.1, 0.5, 1, 5, 10, 30, 60, 300, 600];
const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128];

/** The one table of what is measured. */
export const METRICS = {
  'session_auth.login.duration': {
    kind: 'histogram',
    unit: 's',
    description: 'Logins by name and password, refused ones included.',
    buckets: REQUEST_SECONDS,
  },
  'session_auth.login.failed': {
    kind: 'counter',
    unit: '{password}',
    description: 'Wrong passwords, at logins and within sessions.',
  },
  'session_auth.refresh.duration': {
    kind: 'histogram',
    unit: 's',
    description: 'Exchanges of refresh tokens, refused ones included.',
    buckets: REQUEST_SECONDS,
  },
  'session_auth.token.reused': {
    kind: 'counter',
    unit: '{token}',
    description: 'Used refresh tokens that came again and ended the sessions of their user.',
  },
  'session_auth.session.opened': { kind: 'counter', unit: '{session}', description: 'Sessions that were opened.' },
  'session_auth.session.ended': { kind: 'counter', unit: '{session}', description: 'Sessions that ended.' },
  'session_auth.lookup.duration': {
    kind: 'histogram',
    unit: 's',
    description: 'Look-ups of access tokens, those that were refused included.',
    buckets: CALL_SECONDS,
  },
  'session_auth.lookup.batch_size': {
    kind: 'histogram',
    unit: '{token}',
    description: 'Access tokens that were looked up in one statement.',
    buckets: BATCH_SIZES,
  },
  'session_auth.hashing.running': { kind: 'level', unit: '{hash}', description: 'Password hashes that run.' },
  'session_auth.hashing.waiting': { kind: 'level', unit: '{hash}', description: 'Password hashes that wait.' },
  'session_auth.prune.duration': {
    kind: 'histogram',
    unit: 's',
    description: 'Clean-ups.',
    buckets: PRUNE_SECONDS,
  },
  'session_auth.prune.rows': { kind: 'counter', unit: '{row}', description: 'Rows that a clean-up dealt with.' },
  'session_auth.database.errors': {
    kind: 'counter',
    unit: '{error}',
    description: 'Units of work that the database failed for good, after all tries.',
  },
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
