import type { Spread } from '../measure/statistics';
import type { Finding } from '../results';

/** A number as it is read: whole from 100 on, with no more than three significant digits below. */
export function figure(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-GB');
  return String(Number(value.toPrecision(3)));
}

/** `median (min to max)`. */
export function spreadText({ median, min, max }: Spread): string {
  return min === max ? figure(median) : `${figure(median)} (${figure(min)} to ${figure(max)})`;
}

export function ratioText(ratio: Spread | null | undefined): string {
  return ratio ? ratio.median.toFixed(2) : '';
}

/** A table in Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** When it was measured, and by which command. */
export function origin({ at, command }: Finding<unknown>): string {
  return `Measured on ${at.slice(0, 10)} by \`${command}\`.`;
}

export function counted(count: number, one: string): string {
  return count === 1 ? `1 ${one}` : `${figure(count)} ${one}s`;
}
