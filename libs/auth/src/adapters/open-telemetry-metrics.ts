import type * as OpenTelemetry from '@opentelemetry/api';
import {
  METRICS,
  type CounterName,
  type DurationName,
  type HistogramName,
  type LevelName,
  type MetricAttributes,
  type MetricDescription,
  type MetricName,
} from '../domain/metrics';
import { type EndTimer, Metrics, NoMetrics } from '../domain/ports/platform';
import { loadOptionalPeer } from '../optional-peer';

/** The scope of the instruments: the name of the package. */
const METER = 'nestjs-session-auth';

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
