import type { InstancesResult } from '../parts/instances';
import type { Measurement } from '../results';
import { origin, rounds, spreadText, table } from './text';

const HEAD = ['Path', 'Instances', 'Requests/s', 'p99 ms', 'CPU database', 'Accepted after logout'];

export function instancesSection(measurement: Measurement<InstancesResult>): string {
  const { cells, connections, skipped } = measurement.result;
  const rows = cells.map((cell) => [
    cell.way === 'direct' ? 'direct' : 'behind PgBouncer',
    String(cell.instances),
    spreadText(cell.perSecond),
    spreadText(cell.p99Ms),
    spreadText(cell.databaseCpuMs),
    `${cell.acceptedAfter} of ${cell.revoked}`,
  ]);
  const parts = [
    `${origin(measurement)} ${rounds(measurement)} ${connections} connections in total. The load generator uses the same ` +
      'cores. With more instances than cores, the figures show only the overhead of the additional instances.',
    table(HEAD, rows),
  ];
  if (skipped.length > 0) parts.push(`Not measured: ${skipped.join('; ')}.`);
  return parts.join('\n\n');
}
