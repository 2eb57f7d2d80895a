import type { GrowthResult } from '../parts/growth';
import type { Finding } from '../results';
import { DATABASE_NAMES } from './names';
import type { Section } from './section';
import { figure, origin, spreadText, table } from './text';

export function growthSection(finding: Finding<GrowthResult>): Section {
  const { cells, prunes, skipped } = finding.result;
  const grown = cells.map(({ database, sessions, bytesOfOne, lookUp, listMs, logoutAllMs }) => [
    DATABASE_NAMES[database],
    sessions.toLocaleString('en-GB'),
    bytesOfOne.toLocaleString('en-GB'),
    spreadText(lookUp.p50Ms),
    spreadText(lookUp.p99Ms),
    lookUp.ofLimit ? (1 / lookUp.ofLimit.median).toFixed(2) : '',
    spreadText(listMs),
    spreadText(logoutAllMs),
  ]);
  const pruned = prunes.map(({ database, rows, seconds }) => [
    DATABASE_NAMES[database],
    rows.toLocaleString('en-GB'),
    figure(seconds),
    figure(rows / seconds),
  ]);
  const head = [
    'Database',
    'Sessions',
    'Bytes of one',
    'Look-up p50 ms',
    'p99 ms',
    'cost by the smallest',
    'List 1,000 ms',
  ];
  const parts = [
    origin(finding),
    table([...head, 'logout/all of 1,000 ms'], grown),
    table(['Database', 'Rows cleaned up', 'Seconds', 'Rows/s'], pruned),
  ];
  if (skipped.length > 0) parts.push(`No room on this machine for: ${skipped.join(', ')}.`);
  return { text: parts.join('\n\n') };
}
