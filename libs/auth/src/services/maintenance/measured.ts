import { AuthError } from '../../domain/errors';
import type { DurationName, MetricAttributes } from '../../domain/metrics';
import type { EndTimer, Metrics } from '../../domain/ports/platform';

type Refusal<T> = (result: T) => MetricAttributes | undefined;

/**
 * Runs the work and measures how long it takes and how it ends, if anything is measured.
 * @param refusal the attributes of a result that is a refusal without being an error
 */
export function measured<T>(
  metrics: Metrics,
  name: DurationName,
  work: () => Promise<T>,
  refusal: Refusal<T> = () => undefined,
): Promise<T> {
  return metrics.isOn ? timed(metrics.startTimer(name), work, refusal) : work();
}

async function timed<T>(end: EndTimer, work: () => Promise<T>, refusal: Refusal<T>): Promise<T> {
  try {
    const result = await work();
    end(refusal(result));
    return result;
  } catch (error) {
    end({ 'error.type': error instanceof AuthError ? error.code : '_OTHER' });
    throw error;
  }
}
