import { AuthError } from '../../domain/errors';
import type { DurationName, MetricAttributes } from '../../domain/metrics';
import type { EndTimer, Metrics } from '../../domain/ports/platform';

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
