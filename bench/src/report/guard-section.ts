import type { DatabaseName } from '../databases';
import type { GuardCell, GuardResult } from '../parts/guard';
import type { Measurement } from '../results';
import { barChart } from './chart';
import { CONTENDER_NAMES, DATABASE_NAMES, DATABASE_ORDER } from './names';
import { counted, origin, ratioText, rounds, spreadText, table } from './text';

const HEAD = [
  'Connections',
  'Guard',
  'Requests/s',
  'relative to no guard',
  'to the batching guard',
  'to one prepared query',
  'p50 ms',
  'p99 ms',
  'CPU server',
  'CPU database',
];

/**
 * The number of connections that the charts show. If this number was not measured, the charts show the largest
 * measured number.
 */
const CHARTED_CONNECTIONS = 32;

export function guardSection(measurement: Measurement<GuardResult>): string {
  const { cells, sessions, load } = measurement.result;
  const parts = [
    `${origin(measurement)} ${rounds(measurement)} ${sessions} sessions, load by ${load}. ` +
      'Processor time is in milliseconds per 1,000 requests.',
  ];
  for (const database of DATABASE_ORDER) {
    const own = cells.filter((cell) => cell.database === database);
    if (own.length > 0)
      parts.push(`#### ${DATABASE_NAMES[database]}`, ...charts(database, own), table(HEAD, own.map(row)));
  }
  return parts.join('\n\n');
}

function charts(database: DatabaseName, cells: readonly GuardCell[]): string[] {
  const counts = cells.map(({ connections }) => connections);
  const connections = counts.includes(CHARTED_CONNECTIONS) ? CHARTED_CONNECTIONS : Math.max(...counts);
  const charted = cells.filter((cell) => cell.connections === connections);
  const where = `${DATABASE_NAMES[database]}, ${counted(connections, 'connection')}`;
  const bars = (of: (cell: GuardCell) => number): [string, number][] =>
    charted.map((cell) => [CONTENDER_NAMES[cell.contender], of(cell)]);
  return [
    barChart(
      `Throughput on ${where}`,
      'requests/s',
      bars(({ perSecond }) => perSecond.median),
    ),
    barChart(
      `99th percentile on ${where}`,
      'ms',
      bars(({ p99Ms }) => p99Ms.median),
    ),
  ];
}

function row(cell: GuardCell): string[] {
  const name = CONTENDER_NAMES[cell.contender];
  return [
    String(cell.connections),
    cell.contender === 'ours' ? `**${name}**` : name,
    spreadText(cell.perSecond),
    ratioText(cell.against.none),
    ratioText(cell.against.batching),
    ratioText(cell.against.prepared),
    spreadText(cell.p50Ms),
    spreadText(cell.p99Ms),
    spreadText(cell.serverCpuMs),
    spreadText(cell.databaseCpuMs),
  ];
}
