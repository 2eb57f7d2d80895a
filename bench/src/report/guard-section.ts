import type { GuardCell, GuardResult } from '../parts/guard';
import type { Finding } from '../results';
import { barChart } from './bar-chart';
import { CONTENDER_NAMES, DATABASE_NAMES, DATABASE_ORDER } from './names';
import type { Section } from './section';
import { counted, origin, ratioText, spreadText, table } from './text';

const HEAD = [
  'Connections',
  'Guard',
  'Requests/s',
  'of no guard',
  'of one prepared query',
  'p50 ms',
  'p99 ms',
  'CPU server',
  'CPU database',
];

export function guardSection(finding: Finding<GuardResult>): Section {
  const { cells, rounds, seconds, sessions, load } = finding.result;
  const plots = new Map<string, string>();
  const parts = [
    `${origin(finding)} Medians (least to most) of ${counted(rounds, 'round')} of ${seconds} s, ${sessions} sessions, load by ${load}; ` +
      'processor time in milliseconds for 1,000 requests.',
  ];
  for (const database of DATABASE_ORDER) {
    const own = cells.filter((cell) => cell.database === database);
    if (own.length === 0) continue;
    const name = DATABASE_NAMES[database];
    plots.set(
      `throughput-${database}`,
      plot(`Requests in a second on ${name}`, own, (cell) => cell.perSecond),
    );
    plots.set(
      `p99-${database}`,
      plot(`99th percentile of the answer time on ${name}, ms`, own, (cell) => cell.p99Ms),
    );
    parts.push(
      `#### ${name}`,
      `![Requests in a second](performance/throughput-${database}.svg)`,
      table(HEAD, own.map(row)),
      `![99th percentile](performance/p99-${database}.svg)`,
    );
  }
  return { text: parts.join('\n\n'), plots };
}

function row(cell: GuardCell): string[] {
  const name = CONTENDER_NAMES[cell.contender];
  return [
    String(cell.connections),
    cell.contender === 'ours' ? `**${name}**` : name,
    spreadText(cell.perSecond),
    ratioText(cell.against.none),
    ratioText(cell.against.prepared),
    spreadText(cell.p50Ms),
    spreadText(cell.p99Ms),
    spreadText(cell.serverCpuMs),
    spreadText(cell.databaseCpuMs),
  ];
}

function plot(title: string, cells: readonly GuardCell[], value: (cell: GuardCell) => GuardCell['p99Ms']): string {
  const counts = [...new Set(cells.map((cell) => cell.connections))];
  return barChart(
    title,
    counts.map((connections) => ({
      title: counted(connections, 'connection'),
      bars: cells
        .filter((cell) => cell.connections === connections)
        .map((cell) => ({
          name: CONTENDER_NAMES[cell.contender],
          value: value(cell),
          isOurs: cell.contender === 'ours',
        })),
    })),
  );
}
