import type { Spread } from '../measure/statistics';
import type { Measurement } from '../results';

/** Formats a number: as a whole number from 100 on, and with at most three significant digits below. */
export function figure(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-GB');
  return String(Number(value.toPrecision(3)));
}

/** Formats as `median (min to max)`. */
export function spreadText({ median, min, max }: Spread): string {
  return min === max ? figure(median) : `${figure(median)} (${figure(min)} to ${figure(max)})`;
}

export function ratioText(ratio: Spread | null | undefined): string {
  return ratio ? ratio.median.toFixed(2) : '';
}

/** Formats a Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Returns the date and the command of a measurement. */
export function origin({ at, command }: Measurement<unknown>): string {
  return `Measured on ${at.slice(0, 10)} by \`${command}\`.`;
}

/** Describes the rounds from which the medians are computed. */
export function rounds({ result }: Measurement<{ readonly rounds: number; readonly seconds?: number }>): string {
  const length = result.seconds === undefined ? '' : ` of ${result.seconds} s`;
  return `Median (min to max) of ${counted(result.rounds, 'round')}${length}.`;
}

export function counted(count: number, one: string): string {
  return count === 1 ? `1 ${one}` : `${figure(count)} ${one}s`;
}
