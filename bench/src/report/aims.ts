import type { GuardCell } from '../parts/guard';
import type { Sample } from '../parts/memory';
import type { Results } from '../results';
import { percentile } from '../measure/statistics';
import { counted } from './text';

/** What is aimed at, and what was measured. */
export interface Aim {
  readonly text: string;
  readonly limit: number;
  readonly isFloor: boolean;
  /** Null where it was not measured. */
  readonly measured: number | null;
}

/** Memory may move by so much from the first third of a run to the last: what a garbage collection leaves is not the same each time. */
const FLAT = 1.1;

/** The aims, on PostgreSQL where nothing else is said. */
export function aims(results: Results): Aim[] {
  return [
    ...guardAims((results.guard?.result.cells ?? []).filter((cell) => isOurs(cell))),
    ...growthAims(results),
    ...refreshAims(results),
    ...loginAims(results),
    atMost('Heap under full load, the last third of the run by the first', FLAT, {
      measured: growthOf(results.memory?.result.fullLoad.samples),
    }),
    atMost('Heap under tokens that nobody was given, likewise', FLAT, {
      measured: growthOf(results.memory?.result.badTokens.samples),
    }),
    atMost('Requests let pass after the answered logout of their session, on any instance, under load', 0, {
      measured: results.instances?.result.cells.reduce((sum, cell) => sum + cell.passedAfter, 0) ?? null,
    }),
  ];
}

/** Whether it is met, exactly: a hair below is below. */
export function isMet({ limit, isFloor, measured }: Aim): boolean | null {
  if (measured === null) return null;
  return isFloor ? measured >= limit : measured <= limit;
}

function guardAims(ours: readonly GuardCell[]): Aim[] {
  const at = (connections: number): GuardCell | undefined => ours.find((cell) => cell.connections === connections);
  return [
    atLeast('Guarded by unguarded, 32 connections', 0.9, { measured: at(32)?.against.none?.median ?? null }),
    atLeast('By one prepared query, 1 connection', 1, { measured: at(1)?.against.prepared?.median ?? null }),
    ...ours.map((cell) =>
      atMost(`p99 by that of one prepared query, ${counted(cell.connections, 'connection')}`, 1, {
        measured: cell.p99Against.prepared?.median ?? null,
      }),
    ),
    atLeast('By `@nestjs/jwt`, 32 connections', 3, { measured: at(32)?.against.jwt?.median ?? null }),
    atLeast('By better-auth, 32 connections', 6, { measured: at(32)?.against['better-auth']?.median ?? null }),
  ];
}

function growthAims(results: Results): Aim[] {
  const cells = (results.growth?.result.cells ?? []).filter((cell) => cell.database === 'postgres');
  const largest = cells.reduce((one, other) => (other.sessions > (one?.sessions ?? 0) ? other : one), cells[0]);
  const [most, least] = [largest, cells[0]].map((cell) => cell?.sessions.toLocaleString('en-GB') ?? '');
  const text = largest
    ? `Cost of a look-up at ${most} sessions by that at ${least}`
    : 'Cost of a look-up as tables grow';
  return [atMost(text, 1.2, { measured: largest?.lookUp.ofLimit ? 1 / largest.lookUp.ofLimit.median : null })];
}

function refreshAims(results: Results): Aim[] {
  return (results.refresh?.result.cells ?? [])
    .filter((cell) => cell.database === 'postgres')
    .map((cell) =>
      atLeast(`Refresh by one prepared UPDATE, ${counted(cell.clients, 'client')}`, 0.5, {
        measured: cell.refresh.ofLimit?.median ?? null,
      }),
    );
}

function loginAims(results: Results): Aim[] {
  const cell = results.login?.result.cells.find(({ database }) => database === 'postgres');
  const costOf = (ratio: number | undefined): number | null => (ratio === undefined ? null : 1 / ratio);
  return [
    atMost('Cost of a login by that of the bare hash', 1.05, { measured: costOf(cell?.multi.ofLimit?.median) }),
    atMost('The same under a limit of sessions', 1.05, { measured: costOf(cell?.limited.ofLimit?.median) }),
  ];
}

function growthOf(samples: readonly Sample[] | undefined): number | null {
  // The very first sample is from before the load.
  const heap = samples?.slice(1).map(({ heapMiB }) => heapMiB) ?? [];
  const third = Math.floor(heap.length / 3);
  if (third === 0) return null;
  return percentile(heap.slice(-third), 0.5) / percentile(heap.slice(0, third), 0.5);
}

function isOurs(cell: GuardCell): boolean {
  return cell.database === 'postgres' && cell.contender === 'ours';
}

type Measured = Pick<Aim, 'measured'>;

function atLeast(text: string, limit: number, { measured }: Measured): Aim {
  return { text, limit, isFloor: true, measured };
}

function atMost(text: string, limit: number, { measured }: Measured): Aim {
  return { text, limit, isFloor: false, measured };
}
