import type { GrowthResult } from '../parts/growth';
import type { Measurement } from '../results';
import { DATABASE_NAMES } from './names';
import { figure, origin, rounds, spreadText, table } from './text';

const HEAD = [
  'Database',
  'Sessions',
  'Bytes per session',
  'Lookup p50 ms',
  'p99 ms',
  'cost relative to the smallest',
  'List 1,000 ms',
  'logout/all of 1,000 ms',
];

export function growthSection(measurement: Measurement<GrowthResult>): string {
  const { cells, prunes, skipped } = measurement.result;
  const grown = cells.map(({ database, sessions, bytesPerSession, lookUp, listMs, logoutAllMs }) => [
    DATABASE_NAMES[database],
    sessions.toLocaleString('en-GB'),
    bytesPerSession.toLocaleString('en-GB'),
    spreadText(lookUp.p50Ms),
    spreadText(lookUp.p99Ms),
    lookUp.ratio ? (1 / lookUp.ratio.median).toFixed(2) : '',
    spreadText(listMs),
    spreadText(logoutAllMs),
  ]);
  const pruned = prunes.map(({ database, rows, seconds }) => [
    DATABASE_NAMES[database],
    rows.toLocaleString('en-GB'),
    figure(seconds),
    figure(rows / seconds),
  ]);
  const parts = [
    `${origin(measurement)} ${rounds(measurement)}`,
    table(HEAD, grown),
    table(['Database', 'Rows pruned', 'Seconds', 'Rows/s'], pruned),
  ];
  if (skipped.length > 0) parts.push(`Not measured, because the disk is too small: ${skipped.join(', ')}.`);
  return parts.join('\n\n');
}
