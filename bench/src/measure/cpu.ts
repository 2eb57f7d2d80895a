import { readdirSync, readFileSync } from 'node:fs';

/** The value of USER_HZ: /proc contains processor times in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/** Processor time used so far, in ticks, by process id. */
export type CpuTimes = ReadonlyMap<number, number>;

const DATABASE_PROCESSES = { postgres: 'postgres', mariadb: 'mariadbd', mysql9: 'mysqld' } as const;

/**
 * Returns the processor time of a database server on this machine. Returns no times for SQLite, which runs in the
 * application.
 */
export function databaseCpu(database: string): CpuTimes {
  const name = DATABASE_PROCESSES[database as keyof typeof DATABASE_PROCESSES] as string | undefined;
  return name === undefined ? new Map() : cpuOf(processesNamed(name));
}

export function cpuOf(pids: readonly number[]): CpuTimes {
  return new Map(pids.map((pid) => [pid, ticksOf(pid)]));
}

/** Returns the processor time between two readings, in milliseconds, including processes that started in between. */
export function cpuMsBetween(before: CpuTimes, after: CpuTimes): number {
  let ticks = 0;
  for (const [pid, until] of after) ticks += until - (before.get(pid) ?? 0);
  return (ticks * 1000) / TICKS_PER_SECOND;
}

function ticksOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Skips the name, which may contain spaces. In proc(5), utime is the 14th field, and stime is the 15th.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(fields[11]) + Number(fields[12]);
  } catch {
    return 0;
  }
}

function processesNamed(name: string): number[] {
  try {
    return readdirSync('/proc')
      .filter((entry) => /^\d+$/.test(entry) && commandOf(entry) === name)
      .map(Number);
  } catch {
    return [];
  }
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return '';
  }
}
