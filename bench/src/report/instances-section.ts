import type { InstancesResult } from '../parts/instances';
import type { Finding } from '../results';
import type { Section } from './section';
import { origin, spreadText, table } from './text';

export function instancesSection(finding: Finding<InstancesResult>): Section {
  const { cells, connections, skipped } = finding.result;
  const rows = cells.map((cell) => [
    cell.way === 'direct' ? 'directly' : 'behind PgBouncer',
    String(cell.instances),
    spreadText(cell.perSecond),
    spreadText(cell.p99Ms),
    spreadText(cell.databaseCpuMs),
    `${cell.passedAfter} of ${cell.revoked}`,
  ]);
  const head = ['Way', 'Instances', 'Requests/s', 'p99 ms', 'CPU database'];
  const parts = [
    `${origin(finding)} ${connections} connections in all. The load runs on the same cores, so more instances than cores show what they cost, not what they bring.`,
    table([...head, 'Passed after an answered logout'], rows),
  ];
  if (skipped.length > 0) parts.push(`Not measured: ${skipped.join('; ')}.`);
  return { text: parts.join('\n\n') };
}
