import type { CounterName, DurationName, HistogramName, LevelName, MetricAttributes } from '../metrics';

/** Ends the measuring of a duration. */
export type EndTimer = (attributes?: MetricAttributes) => void;

/** Where measurements go. Called after the commit; never fails. */
export abstract class Metrics {
  /** Whether anybody takes them: if not, a hot path need not even ask for a timer. */
  abstract readonly isOn: boolean;
  abstract count(name: CounterName, by: number, attributes?: MetricAttributes): void;
  abstract record(name: HistogramName, value: number): void;
  /** Measures from now until what it gives is called. */
  abstract startTimer(name: DurationName): EndTimer;
  /** Asks for a level whenever somebody looks; what it gives ends that. */
  abstract observe(name: LevelName, read: () => number): () => void;
}

const NOTHING = (): void => undefined;

/** Where nobody takes measurements. */
export class NoMetrics extends Metrics {
  readonly isOn = false;

  count(): void {}

  record(): void {}

  startTimer(): EndTimer {
    return NOTHING;
  }

  observe(): () => void {
    return NOTHING;
  }
}
