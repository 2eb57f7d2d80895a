import { Logger } from '@nestjs/common';
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
import { Metrics, NoMetrics, type EndTimer } from '../domain/ports/metrics';

/** The scope of the instruments: the name of the package. */
const METER = 'nestjs-session-auth';

/** Measures with `@opentelemetry/api`, an optional peer dependency. */
export class OpenTelemetryMetrics extends Metrics {
  readonly isOn = true;
  private readonly counters = new Map<CounterName, OpenTelemetry.Counter>();
  private readonly histograms = new Map<HistogramName, OpenTelemetry.Histogram>();

  // Private, so that the types of the optional dependency stay out of the published declarations.
  private constructor(private readonly meter: OpenTelemetry.Meter) {
    super();
    for (const [name, { kind }] of Object.entries(METRICS) as [MetricName, MetricDescription][]) {
      if (kind === 'counter') this.counters.set(name as CounterName, meter.createCounter(name, optionsOf(name)));
      if (kind === 'histogram') {
        this.histograms.set(name as HistogramName, meter.createHistogram(name, optionsOf(name)));
      }
    }
  }

  /** Measures nothing where the API is not installed, or where no SDK was registered before the app was made. */
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- an import would fail where it is not installed
  static load(requireApi: () => unknown = () => require('@opentelemetry/api')): Metrics {
    const api = loadApi(requireApi);
    const meter = api?.metrics.getMeter(METER);
    // The API gives this very meter where there is no SDK.
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

function loadApi(requireApi: () => unknown): typeof OpenTelemetry | null {
  try {
    return requireApi() as typeof OpenTelemetry;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'MODULE_NOT_FOUND' || !message.startsWith("Cannot find module '@opentelemetry/api'")) {
      new Logger('AuthModule').warn('@opentelemetry/api cannot be loaded: nothing is measured.');
    }
    return null;
  }
}

function optionsOf(name: MetricName): OpenTelemetry.MetricOptions {
  const { unit, description, buckets }: MetricDescription = METRICS[name];
  return { unit, description, ...(buckets ? { advice: { explicitBucketBoundaries: [...buckets] } } : {}) };
}

function plain(attributes: MetricAttributes = {}): OpenTelemetry.Attributes {
  return { ...attributes };
}
