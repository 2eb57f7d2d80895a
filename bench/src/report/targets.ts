import type { DatabaseName } from '../databases';
import type { GuardCell } from '../parts/guard';
import type { Sample } from '../parts/memory';
import { BOUNDED_OPERATIONS } from '../parts/bounded';
import { percentile } from '../measure/statistics';
import type { Results } from '../results';
import { DATABASE_NAMES, DATABASE_ORDER, OPERATION_NAMES } from './names';
import { counted } from './text';

/** A performance target, and the figure to compare with it. */
export interface Target {
  /** Describes the figure. */
  readonly text: string;
  readonly limit: number;
  /** Whether the limit is a minimum. Otherwise the limit is a maximum. */
  readonly isMinimum: boolean;
  /** The measured figure, or null if the figure was not measured. */
  readonly measured: number | null;
}

const CLIENTS = [1, 8, 32, 128];

/** The minimum rate of refreshes, relative to one prepared UPDATE. */
const MIN_REFRESH_RATIOS: Record<DatabaseName, (clients: number) => number> = {
  postgres: (clients) => (clients === 1 ? 0.75 : 0.55),
  mariadb: () => 0.3,
  sqlite: () => 0.35,
};

const MAX_BYTES_RATIO = 1.2;
const MAX_BOUNDED_MS = 2_000;

/** The maximum ratio is above 1, because the heap differs slightly after each garbage collection. */
const MAX_HEAP_GROWTH = 1.1;

/** Returns all targets. A target is for PostgreSQL unless its text names another database. */
export function targets(results: Results): Target[] {
  return [
    ...guardTargets((results.guard?.result.cells ?? []).filter(isOurs)),
    ...refreshTargets(results),
    ...loginTargets(results),
    ...storageTargets(results),
    ...boundedTargets(results),
    ...growthTargets(results),
    atMost('Heap under full load, last third of the run relative to the first', MAX_HEAP_GROWTH, {
      measured: heapGrowth(results.memory?.result.fullLoad.samples),
    }),
    atMost('Heap under unknown tokens, last third of the run relative to the first', MAX_HEAP_GROWTH, {
      measured: heapGrowth(results.memory?.result.unknownTokens.samples),
    }),
    atMost('Requests accepted on any instance after the logout of their session, under load', 0, {
      measured: results.instances?.result.cells.reduce((sum, cell) => sum + cell.acceptedAfter, 0) ?? null,
    }),
  ];
}

/** Returns whether a target is met, without tolerance, or null if the figure was not measured. */
export function isMet({ limit, isMinimum, measured }: Target): boolean | null {
  if (measured === null) return null;
  return isMinimum ? measured >= limit : measured <= limit;
}

function guardTargets(ours: readonly GuardCell[]): Target[] {
  const at = (connections: number): GuardCell | undefined => ours.find((cell) => cell.connections === connections);
  return [
    atLeast('Throughput relative to a bare batching guard, 32 connections', 0.97, {
      measured: at(32)?.against.batching?.median ?? null,
    }),
    atLeast('Throughput relative to one prepared query, 1 connection', 0.9, {
      measured: at(1)?.against.prepared?.median ?? null,
    }),
    ...ours.map((cell) =>
      atMost(`p99 relative to one prepared query, ${counted(cell.connections, 'connection')}`, 1, {
        measured: cell.p99Against.prepared?.median ?? null,
      }),
    ),
    atLeast('Throughput relative to `@nestjs/jwt`, 32 connections', 3, {
      measured: at(32)?.against.jwt?.median ?? null,
    }),
    atLeast('Throughput relative to better-auth, 32 connections', 6, {
      measured: at(32)?.against['better-auth']?.median ?? null,
    }),
  ];
}

function refreshTargets(results: Results): Target[] {
  const cells = results.refresh?.result.cells ?? [];
  return DATABASE_ORDER.flatMap((database) =>
    CLIENTS.map((clients) => {
      const cell = cells.find((one) => one.database === database && one.clients === clients);
      const text = `Refresh relative to one prepared UPDATE, ${DATABASE_NAMES[database]}, ${counted(clients, 'client')}`;
      return atLeast(text, MIN_REFRESH_RATIOS[database](clients), { measured: cell?.refresh.ratio?.median ?? null });
    }),
  );
}

function loginTargets(results: Results): Target[] {
  const cells = results.login?.result.cells ?? [];
  const costOf = (ratio: number | undefined): number | null => (ratio === undefined ? null : 1 / ratio);
  return DATABASE_ORDER.flatMap((database) => {
    const cell = cells.find((one) => one.database === database);
    const text = `Cost of a login relative to the bare hash, ${DATABASE_NAMES[database]}`;
    return [
      atMost(text, 1.05, { measured: costOf(cell?.multi.ratio?.median) }),
      atMost(`${text}, at the session limit`, 1.05, { measured: costOf(cell?.limited.ratio?.median) }),
    ];
  });
}

function storageTargets(results: Results): Target[] {
  const text = 'Bytes of a session after 60 refreshes relative to a session that was never refreshed';
  const cells = results.refresh?.result.storage ?? [];
  if (cells.length === 0) return [atMost(text, MAX_BYTES_RATIO, { measured: null })];
  return cells.map(({ database, graceSeconds, neverRefreshed, refreshed }) => {
    const grace = graceSeconds === 0 ? 'without a grace period' : 'with a grace period';
    return atMost(`${text}, ${DATABASE_NAMES[database]}, ${grace}`, MAX_BYTES_RATIO, {
      measured: refreshed / neverRefreshed,
    });
  });
}

function boundedTargets(results: Results): Target[] {
  return DATABASE_ORDER.map((database) => {
    const cell = results.bounded?.result.cells.find((one) => one.database === database);
    const subject = `operation on a user with very many sessions, ${DATABASE_NAMES[database]}, ms`;
    if (!cell) return atMost(`Slowest ${subject}`, MAX_BOUNDED_MS, { measured: null });
    const msOf = (name: (typeof BOUNDED_OPERATIONS)[number]): number => cell.ms[name].max;
    const slowest = BOUNDED_OPERATIONS.reduce((one, other) => (msOf(other) > msOf(one) ? other : one));
    return atMost(`Slowest ${subject} (${OPERATION_NAMES[slowest]})`, MAX_BOUNDED_MS, { measured: msOf(slowest) });
  });
}

function growthTargets(results: Results): Target[] {
  const cells = (results.growth?.result.cells ?? []).filter((cell) => cell.database === 'postgres');
  const largest = cells.reduce((one, other) => (other.sessions > (one?.sessions ?? 0) ? other : one), cells[0]);
  const [most, least] = [largest, cells[0]].map((cell) => cell?.sessions.toLocaleString('en-GB') ?? '');
  const text = largest
    ? `Cost of a lookup at ${most} sessions relative to ${least}`
    : 'Cost of a lookup as tables grow';
  return [atMost(text, 1.2, { measured: largest?.lookUp.ratio ? 1 / largest.lookUp.ratio.median : null })];
}

function heapGrowth(samples: readonly Sample[] | undefined): number | null {
  // The first sample is excluded, because it is taken before the load.
  const heap = samples?.slice(1).map(({ heapMiB }) => heapMiB) ?? [];
  const third = Math.floor(heap.length / 3);
  if (third === 0) return null;
  return percentile(heap.slice(-third), 0.5) / percentile(heap.slice(0, third), 0.5);
}

function isOurs(cell: GuardCell): boolean {
  return cell.database === 'postgres' && cell.contender === 'ours';
}

type Measured = Pick<Target, 'measured'>;

function atLeast(text: string, limit: number, { measured }: Measured): Target {
  return { text, limit, isMinimum: true, measured };
}

function atMost(text: string, limit: number, { measured }: Measured): Target {
  return { text, limit, isMinimum: false, measured };
}
