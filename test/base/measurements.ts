import { metrics } from '@opentelemetry/api';
import {
  AggregationTemporality,
  DataPointType,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
  type MetricData,
} from '@opentelemetry/sdk-metrics';
import type { MetricName } from '../../libs/auth/src/base/telemetry';

/** An OpenTelemetry SDK that keeps the measurements in memory. */
export class Measurements {
  private readonly exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  private readonly provider = new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter: this.exporter, exportIntervalMillis: 3_600_000 })],
  });

  /** Registers the SDK. It measures the applications that start afterwards. */
  register(): void {
    metrics.setGlobalMeterProvider(this.provider);
  }

  async shutdown(): Promise<void> {
    metrics.disable();
    await this.provider.shutdown();
  }

  /** Returns all metrics measured so far. */
  async all(): Promise<MetricData[]> {
    this.exporter.reset();
    await this.provider.forceFlush();
    return this.exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
  }

  /** Returns the values of one metric by its attributes. The value of a histogram is its count. */
  async of(name: MetricName): Promise<Record<string, number>> {
    const found = (await this.all()).find(({ descriptor }) => descriptor.name === name);
    if (!found) return {};
    return Object.fromEntries(
      found.dataPointType === DataPointType.HISTOGRAM
        ? found.dataPoints.map(({ attributes, value }) => [attributeKey(attributes), value.count])
        : found.dataPoints.map(({ attributes, value }) => [attributeKey(attributes), value as number]),
    );
  }
}

function attributeKey(attributes: object): string {
  return Object.values(attributes).join(' ');
}
