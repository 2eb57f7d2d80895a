import { metrics } from '@opentelemetry/api';
import {
  AggregationTemporality,
  DataPointType,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
  type MetricData,
} from '@opentelemetry/sdk-metrics';
import type { MetricName } from '../../libs/auth/src/domain/metrics';

/** An SDK as an application registers it, which keeps the measurements. */
export class Measurements {
  private readonly exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  private readonly provider = new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter: this.exporter, exportIntervalMillis: 3_600_000 })],
  });

  /** Applications that start from now on are measured. */
  register(): void {
    metrics.setGlobalMeterProvider(this.provider);
  }

  async shutdown(): Promise<void> {
    metrics.disable();
    await this.provider.shutdown();
  }

  /** All that was measured until now. */
  async all(): Promise<MetricData[]> {
    this.exporter.reset();
    await this.provider.forceFlush();
    return this.exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
  }

  /** Of one metric: how often (a histogram), how much (a counter) or how many (a level), by its attributes. */
  async of(name: MetricName): Promise<Record<string, number>> {
    const found = (await this.all()).find(({ descriptor }) => descriptor.name === name);
    if (!found) return {};
    return Object.fromEntries(
      found.dataPointType === DataPointType.HISTOGRAM
        ? found.dataPoints.map(({ attributes, value }) => [wordsOf(attributes), value.count])
        : found.dataPoints.map(({ attributes, value }) => [wordsOf(attributes), value as number]),
    );
  }
}

function wordsOf(attributes: object): string {
  return Object.values(attributes).join(' ');
}
