import { describeDriverError, isDriverError } from './driver-error';

/** The texts to log about an error. */
export interface FailureReport {
  /** The name and message in one line. For a database error, a description replaces the message. */
  readonly summary: string;
  /** The summary and stack of the error and of its causes. */
  readonly stack: string;
}

const MAX_LENGTH = 1_000;
const MAX_CAUSES = 5;

/**
 * Returns the texts to log about an error. A database error is described by its code and its table,
 * column and constraint, because its message may contain parameters.
 */
export function toFailureReport(thrown: unknown): FailureReport {
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
  return typeof thrown === 'string' ? oneLine(thrown) : `${typeof thrown} was thrown instead of an Error`;
}

/** Returns the frames of the stack. Removes the message, because it may contain lines that look like frames. */
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

/** Returns the error that TypeORM has wrapped, or the given error if the database reported it, otherwise undefined. */
function driverErrorOf(thrown: unknown): unknown {
  const { driverError } = (thrown ?? {}) as { readonly driverError?: unknown };
  if (driverError !== undefined) return driverError;
  return isDriverError(thrown) ? thrown : undefined;
}

/** Truncates the text and replaces line breaks, so that a message cannot forge a log entry. (ASVS 16.4.1) */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').slice(0, MAX_LENGTH);
}
