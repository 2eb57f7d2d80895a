import { BOUNDED_OPERATIONS, type BoundedResult } from '../parts/bounded';
import type { Measurement } from '../results';
import { DATABASE_NAMES, OPERATION_NAMES } from './names';
import { origin, rounds, spreadText, table } from './text';

export function boundedSection(measurement: Measurement<BoundedResult>): string {
  const { active, ended, cells } = measurement.result;
  const rows = BOUNDED_OPERATIONS.map((name) => [
    OPERATION_NAMES[name],
    ...cells.map(({ ms }) => spreadText(ms[name])),
  ]);
  const head = ['Operation', ...cells.map(({ database }) => `${DATABASE_NAMES[database]} ms`)];
  const sessions = `${active.toLocaleString('en-GB')} active and ${ended.toLocaleString('en-GB')} ended sessions.`;
  return `${origin(measurement)} ${rounds(measurement)} ${sessions}\n\n${table(head, rows)}`;
}
