import { AuthError } from '../domain/errors';
import type { DurationName, MetricAttributes } from '../domain/metrics';
import type { Metrics } from '../domain/ports/metrics';

/**
 * Runs the work and measures how long it takes and how it ends. Nothing at all is done where nobody takes measurements.
 * @param refusal what an answer tells that is a refusal without being an error
 */
export function measured<T>(
  metrics: Metrics,
  name: DurationName,
  work: () => Promise<T>,
  refusal: (result: T) => MetricAttributes | undefined = () => undefined,
): Promise<T> {
  return metrics.isOn ? timed(metrics, name, work, refusal) : work();
}

async function timed<T>(
  metrics: Metrics,
  name: DurationName,
  work: () => Promise<T>,
  refusal: (result: T) => MetricAttributes | undefined,
): Promise<T> {
  const end = metrics.startTimer(name);
  try {
    const result = await work();
    end(refusal(result));
    return result;
  } catch (error) {
    end({ 'error.type': error instanceof AuthError ? error.code : '_OTHER' });
    throw error;
  }
}
