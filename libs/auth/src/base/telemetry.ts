import type * as OpenTelemetry from '@opentelemetry/api';
import type { EndReason } from '../database/entities';
import { AuthError, type AuthErrorCode } from './errors';
import { loadOptionalPeer } from './optional-peer';

/** The scope of the instruments: the name of the package. */
const METER = 'nestjs-session-auth';

/** Records metrics. No method throws. */
export abstract class Metrics {
  /** Whether metrics are collected. */
  abstract readonly isOn: boolean;
  abstract count(name: CounterName, by: number, attributes?: MetricAttributes): void;
  abstract record(name: HistogramName, value: number): void;
  /** Starts a timer. Returns the function that stops the timer and records the duration. */
  abstract startTimer(name: DurationName): EndTimer;
  /** Reads a level at each export until the returned function is called. */
  abstract observe(name: LevelName, read: () => number): () => void;
}

/** Discards all metrics. */
export class NoMetrics extends Metrics {
  readonly isOn = false;

  count(): void {}

  record(): void {}

  startTimer(): EndTimer {
    return () => undefined;
  }

  observe(): () => void {
    return () => undefined;
  }
}

/** Records metrics with `@opentelemetry/api`, an optional peer dependency. */
export class OpenTelemetryMetrics extends Metrics {
  readonly isOn = true;
  private readonly counters = new Map<CounterName, OpenTelemetry.Counter>();
  private readonly histograms = new Map<HistogramName, OpenTelemetry.Histogram>();

  // The constructor is private, so that the types of the optional dependency stay out of the published
  // declarations.
  private constructor(private readonly meter: OpenTelemetry.Meter) {
    super();
    for (const [name, { kind }] of Object.entries(METRICS) as [MetricName, MetricDescription][]) {
      const options = optionsOf(name);
      if (kind === 'counter') this.counters.set(name as CounterName, meter.createCounter(name, options));
      if (kind === 'histogram') this.histograms.set(name as HistogramName, meter.createHistogram(name, options));
    }
  }

  /**
   * Returns metrics that record nothing if the API cannot be loaded, or if no SDK was registered before the
   * application was created.
   */
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- an import would fail where it is not installed
  static load(requireApi: () => unknown = () => require('@opentelemetry/api')): Metrics {
    const api = loadOptionalPeer<typeof OpenTelemetry>('@opentelemetry/api', requireApi, 'no metrics are recorded.');
    const meter = api?.metrics.getMeter(METER);
    // Without an SDK, the API returns the no-op meter.
    return !api || !meter || meter === api.createNoopMeter() ? new NoMetrics() : new OpenTelemetryMetrics(meter);
  }

  count(name: CounterName, by: number, attributes?: MetricAttributes): void {
    if (by > 0) this.counters.get(name)!.add(by, plain(attributes));
  }

  record(name: HistogramName, value: number): void {
    this.histograms.get(name)!.record(value);
  }

  startTimer(name: DurationName): EndTimer {
    const start = performance.now();
    return (attributes) => this.histograms.get(name)!.record((performance.now() - start) / 1000, plain(attributes));
  }

  observe(name: LevelName, read: () => number): () => void {
    const level = this.meter.createObservableUpDownCounter(name, optionsOf(name));
    const callback = (result: OpenTelemetry.ObservableResult): void => result.observe(read());
    level.addCallback(callback);
    return () => level.removeCallback(callback);
  }
}

function optionsOf(name: MetricName): OpenTelemetry.MetricOptions {
  const { unit, description, buckets }: MetricDescription = METRICS[name];
  return { unit, description, ...(buckets ? { advice: { explicitBucketBoundaries: [...buckets] } } : {}) };
}

function plain(attributes: MetricAttributes = {}): OpenTelemetry.Attributes {
  return { ...attributes };
}

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

/** Stops a timer and records the duration. */
export type EndTimer = (attributes?: MetricAttributes) => void;

type Refusal<T> = (result: T) => MetricAttributes | undefined;

/**
 * Runs the work and returns its result. If metrics are enabled, records the duration and the outcome.
 * @param refusal returns the metric attributes for a result that counts as a refusal. Default: no result is a refusal
 */
export function measureDuration<T>(
  metrics: Metrics,
  name: DurationName,
  work: () => Promise<T>,
  refusal: Refusal<T> = () => undefined,
): Promise<T> {
  return metrics.isOn ? measure(metrics.startTimer(name), work, refusal) : work();
}

async function measure<T>(end: EndTimer, work: () => Promise<T>, refusal: Refusal<T>): Promise<T> {
  try {
    const result = await work();
    end(refusal(result));
    return result;
  } catch (error) {
    end({ 'error.type': error instanceof AuthError ? error.code : '_OTHER' });
    throw error;
  }
}
