import type * as OpenTelemetry from '@opentelemetry/api';
import { AuthError, type AuthErrorCode } from './errors';
import { loadOptionalPeer } from './optional-peer';

/** The API stores a registered SDK under this key. Without an SDK, loading the API would only delay the start. */
const hasSdk = (): boolean => Symbol.for('opentelemetry.js.api.1') in globalThis;

/** Records metrics and spans with `@opentelemetry/api`, an optional peer dependency. Without an SDK, records nothing. */
export class Metrics {
  private readonly counters = new Map<MetricName, OpenTelemetry.Counter>();
  private readonly histograms = new Map<MetricName, OpenTelemetry.Histogram>();
  private readonly stopObserving: (() => void)[] = [];

  // Private, so that the published declarations do not contain the types of the optional dependency.
  private constructor(
    private readonly meter: OpenTelemetry.Meter | null,
    private readonly tracer: OpenTelemetry.Tracer | null,
  ) {
    for (const [name, metric] of Object.entries(METRICS) as [MetricName, MetricDescription][]) {
      if (meter && metric.kind === 'counter') this.counters.set(name, meter.createCounter(name, metric));
      if (meter && metric.kind === 'histogram') this.histograms.set(name, meter.createHistogram(name, metric));
    }
  }

  /** Records nothing if the API cannot be loaded, or if no SDK was registered before the application was created. */
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- an import would fail where it is not installed
  static load(requireApi: () => unknown = () => hasSdk() && require('@opentelemetry/api')): Metrics {
    const consequence = 'no metrics and spans are recorded.';
    const api = loadOptionalPeer<typeof OpenTelemetry>('@opentelemetry/api', requireApi, consequence);
    if (!api) return Metrics.none();
    const meter = api.metrics.getMeter('nestjs-session-auth');
    const tracer = api.trace.getTracer('nestjs-session-auth');
    // Without an SDK, the API returns the no-op meter, and a proxy that waits for the tracer of an SDK.
    return new Metrics(
      meter === api.createNoopMeter() ? null : meter,
      tracer instanceof api.ProxyTracer ? null : tracer,
    );
  }

  static none(): Metrics {
    return new Metrics(null, null);
  }

  get isOn(): boolean {
    return this.meter !== null || this.tracer !== null;
  }

  /**
   * Records the duration and the outcome of the work. If the metric has a span, it is a child of the caller's active span
   * and the parent of those of the work. `refusal` returns the attributes of a refusing result. A refusal is no failure
   * of the span, as with the 4xx statuses of OpenTelemetry's conventions.
   */
  async measure<T>(
    name: Extract<NameOf<'histogram'>, `${string}.duration`>,
    work: () => Promise<T>,
    refusal: (result: T) => MetricAttributes | undefined = () => undefined,
  ): Promise<T> {
    if (!this.isOn) return work();
    const measured = async (span?: OpenTelemetry.Span): Promise<T> => {
      const start = performance.now();
      let attributes: MetricAttributes | undefined;
      try {
        const result = await work();
        attributes = refusal(result);
        return result;
      } catch (error) {
        const isRefusal = error instanceof AuthError && error.getStatus() < 500;
        if (!isRefusal) span?.setStatus({ code: SPAN_FAILED });
        attributes = { 'error.type': error instanceof AuthError ? error.code : '_OTHER' };
        throw error;
      } finally {
        this.record(name, (performance.now() - start) / 1000, attributes);
        span?.setAttribute('session_auth.outcome', attributes?.['error.type'] ?? 'success').end();
      }
    };
    const { span }: MetricDescription = METRICS[name];
    return this.tracer && span !== undefined ? this.tracer.startActiveSpan(span, measured) : measured();
  }

  count(name: NameOf<'counter'>, by: number, attributes?: MetricAttributes): void {
    if (by > 0) this.counters.get(name)?.add(by, { ...attributes });
  }

  record(name: NameOf<'histogram'>, value: number, attributes?: MetricAttributes): void {
    this.histograms.get(name)?.record(value, { ...attributes });
  }

  /** Reads a level at each export until the application shuts down. */
  observe(name: NameOf<'level'>, read: () => number): void {
    const level = this.meter?.createObservableUpDownCounter(name, METRICS[name]);
    const callback = (result: OpenTelemetry.ObservableResult): void => result.observe(read());
    level?.addCallback(callback);
    this.stopObserving.push(() => level?.removeCallback(callback));
  }

  beforeApplicationShutdown(): void {
    for (const stop of this.stopObserving) stop();
  }
}

export type PruneKind =
  'ended_sessions' | 'sessions' | 'events' | 'login_failures' | 'login_tickets' | 'password_resets' | 'api_keys';

/** Why a server accepts no writes. `docs/operations.md` describes the reasons. */
export type NotWritableKind = 'read_only' | 'in_recovery' | 'not_ready';

/** Why a database operation failed. */
export type FailureKind = 'timeout' | 'connection_lost' | 'rolled_back' | 'other' | NotWritableKind;

/** The attributes of a measurement. No value comes from input. */
interface MetricAttributes {
  readonly 'error.type'?: AuthErrorCode | FailureKind | '_OTHER';
  readonly 'session_auth.end_reason'?: string;
  readonly 'session_auth.prune.kind'?: PruneKind;
}

interface MetricDescription {
  /** A `level` is a current number, such as the number of waiting hashes. */
  readonly kind: 'counter' | 'histogram' | 'level';
  readonly unit: string;
  readonly description: string;
  readonly advice?: { readonly explicitBucketBoundaries: number[] };
  /** The name of the span of each measured operation. */
  readonly span?: string;
}

const histogram = (unit: string, ...explicitBucketBoundaries: number[]) =>
  ({ kind: 'histogram', unit, advice: { explicitBucketBoundaries } }) as const;

// The first two lists are those of the OpenTelemetry semantic conventions for HTTP requests and database calls.
const REQUEST = histogram('s', 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10);
const CALL = histogram('s', 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10);
const PRUNING = histogram('s', 0.1, 0.5, 1, 5, 10, 30, 60, 300, 600);
const BATCH = histogram('{session}', 1, 2, 4, 8, 16, 32, 64, 128);

const counter = (unit: string, description: string) => ({ kind: 'counter', unit, description }) as const;
const level = (unit: string, description: string) => ({ kind: 'level', unit, description }) as const;

export const METRICS = {
  'session_auth.login.duration': {
    ...REQUEST,
    span: 'session_auth.login',
    description: 'Logins by username and password, including refused logins.',
  },
  'session_auth.login.failed': counter(
    '{attempt}',
    'Failed attempts: logins (with unknown usernames too), and passwords and codes within sessions or with login tickets.',
  ),
  'session_auth.refresh.duration': {
    ...REQUEST,
    span: 'session_auth.refresh',
    description: 'Refreshes, including refused refreshes.',
  },
  'session_auth.token.reused': counter('{token}', 'Reused refresh tokens, each of which ended sessions.'),
  'session_auth.token.newer_than_database': counter(
    '{token}',
    'Refresh tokens that are newer than the database, which has probably lost commits.',
  ),
  'session_auth.session.opened': counter('{session}', 'Sessions that were opened.'),
  'session_auth.session.ended': counter('{session}', 'Sessions that ended.'),
  'session_auth.lookup.duration': {
    ...CALL,
    span: 'session_auth.authenticate',
    description: 'Lookups of access tokens, including refused tokens.',
  },
  'session_auth.lookup.batch_size': { ...BATCH, description: 'Sessions that were looked up in one statement.' },
  'session_auth.hashing.running': level('{hash}', 'Password hashes that are being computed.'),
  'session_auth.hashing.waiting': level('{hash}', 'Password hashes that wait for their turn.'),
  'session_auth.connections.used': level('{connection}', "The library's own connections that are in use."),
  'session_auth.connections.waiting': level('{operation}', 'Operations that wait for a connection of the library.'),
  'session_auth.connections.max': level('{connection}', 'The option `connections`.'),
  'session_auth.prune.duration': { ...PRUNING, description: 'Pruning runs.' },
  'session_auth.prune.rows': counter('{row}', 'Rows that pruning removed or ended.'),
  'session_auth.database.errors': counter('{error}', 'Database operations that failed after all retries.'),
} as const satisfies Readonly<Record<string, MetricDescription>>;

export type MetricName = keyof typeof METRICS;

type NameOf<Kind extends MetricDescription['kind']> = {
  [Name in MetricName]: (typeof METRICS)[Name]['kind'] extends Kind ? Name : never;
}[MetricName];

/** The code of a failed span: `SpanStatusCode.ERROR` of `@opentelemetry/api`, which may not be installed. */
const SPAN_FAILED = 2;
