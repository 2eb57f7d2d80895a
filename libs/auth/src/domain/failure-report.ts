import { describeDriverError, isDriverError } from './driver-error';

/** A failure of the application's code, as it is logged. */
export interface FailureReport {
  /** Name and message in one line; of a database's error no message. */
  readonly summary: string;
  /** The summary with the stack, and those of the causes. */
  readonly stack: string;
}

const MAX_LENGTH = 1_000;
const MAX_CAUSES = 5;

/**
 * Reports what the application's own code threw. A database's error is reported by its code and the
 * names of the schema: its message may contain parameters.
 */
export function reportFailure(thrown: unknown): FailureReport {
  const summary = summaryOf(thrown);
  const stacks = [summary + framesOf(thrown)];
  let cause = causeOf(thrown);
  for (let depth = 0; cause !== undefined && cause !== null && depth < MAX_CAUSES; depth++) {
    stacks.push(`Caused by: ${summaryOf(cause)}${framesOf(cause)}`);
    cause = causeOf(cause);
  }
  return { summary, stack: stacks.join('\n') };
}

function summaryOf(thrown: unknown): string {
  const source = driverErrorOf(thrown);
  if (source) return `${oneLine(String((thrown as Error).name))}: ${describeDriverError(source)}`;
  if (thrown instanceof Error) return oneLine(`${thrown.name}: ${thrown.message}`);
  return typeof thrown === 'string' ? oneLine(thrown) : `${typeof thrown} instead of an Error`;
}

/** The lines of the stack behind the message, which may look like one. */
function framesOf(thrown: unknown): string {
  if (!(thrown instanceof Error) || typeof thrown.stack !== 'string') return '';
  const at = thrown.stack.indexOf(thrown.message);
  if (at < 0) return '';
  const lines = thrown.stack.slice(at + thrown.message.length).split('\n');
  return lines
    .filter((line) => /^\s+at /.test(line))
    .map((line) => `\n${line}`)
    .join('');
}

function causeOf(thrown: unknown): unknown {
  return thrown instanceof Error && !driverErrorOf(thrown) ? thrown.cause : undefined;
}

/** The driver's error: this one, or the one that TypeORM has wrapped. */
function driverErrorOf(thrown: unknown): unknown {
  const { driverError } = (thrown ?? {}) as { readonly driverError?: unknown };
  if (driverError !== undefined) return driverError;
  return isDriverError(thrown) ? thrown : undefined;
}

/** A line of the log cannot be forged by what a message quotes. (ASVS 16.4.1) */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').slice(0, MAX_LENGTH);
}
