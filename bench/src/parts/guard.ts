import { type ApplicationProcess, SESSIONS, startOnNewDatabase } from '../application/application-process';
import type { ContenderName } from '../contenders/contender';
import { assertAllSucceeded, runLoad } from '../load/load';
import { cpuMsBetween, databaseCpu } from '../measure/cpu';
import { counted, figure, log, ratio, type Figure, type Part } from '../measure/part';
import { shuffled } from '../measure/statistics';
import type { DatabaseName, Settings } from '../settings';

/** The figures of a contender, by round. */
interface Rounds {
  readonly perSecond: number[];
  readonly p99Ms: number[];
  /** The processor time of the database server per request, in milliseconds. */
  readonly databaseCpuMs: number[];
}

/**
 * Measures a route behind different guards, on the first database. Each round starts a new process for every contender,
 * because two processes that run the same code differ by several percent for their whole lifetime.
 */
export const measureGuard: Part = async (settings, teardown) => {
  const database = settings.databases[0]!;
  // SQLite has one connection, which the library shares with the application.
  const contenders = settings.contenders.filter((name) => name !== 'exhausted' || database !== 'sqlite');
  const measured = settings.connections.map(
    (connections) => [connections, new Map(contenders.map((name) => [name, emptyRounds()]))] as const,
  );
  for (let round = 1; round <= settings.rounds; round++) {
    for (const name of shuffled(contenders)) {
      log(`guard: ${database}, ${name}, round ${round} of ${settings.rounds}`);
      const application = await startOnNewDatabase({ contender: name, database, sessions: SESSIONS }, teardown);
      await load(name, application, 8, settings.warmupSeconds, settings);
      for (const [connections, rounds] of measured) {
        const before = databaseCpu(database);
        const result = await load(name, application, connections, settings.seconds, settings);
        const { perSecond, p99Ms, databaseCpuMs } = rounds.get(name)!;
        perSecond.push(result.requests / result.seconds);
        p99Ms.push(result.p99Ms);
        databaseCpuMs.push(cpuMsBetween(before, databaseCpu(database)) / result.requests);
      }
      await teardown.run();
    }
  }
  return measured.flatMap(([connections, rounds]) => figuresOf(rounds, database, counted(connections, 'connection')));
};

function emptyRounds(): Rounds {
  return { perSecond: [], p99Ms: [], databaseCpuMs: [] };
}

async function load(
  name: ContenderName,
  { url, headers }: ApplicationProcess,
  connections: number,
  seconds: number,
  settings: Settings,
) {
  const result = await runLoad(settings.load, { url: `${url}/me`, headers, connections, seconds });
  assertAllSucceeded(name, result);
  return result;
}

function figuresOf(
  measured: ReadonlyMap<ContenderName, Rounds>,
  database: DatabaseName,
  connections: string,
): readonly Figure[] {
  const { guard, batching, exhausted, ...others } = Object.fromEntries(measured) as Partial<
    Record<ContenderName, Rounds>
  >;
  const rates = [...measured].map(([name, { perSecond }]) =>
    figure(`${name}, ${connections}`, database, 'requests per second', perSecond),
  );
  if (!guard) return rates;
  const ratios = Object.entries({ ...(batching ? { batching } : {}), ...others }).map(([name, { perSecond }]) =>
    ratio(`guard / ${name}, ${connections}`, database, guard.perSecond, perSecond),
  );
  if (batching && database !== 'sqlite') {
    const name = `processor time of the database, guard / batching, ${connections}`;
    ratios.push(ratio(name, database, guard.databaseCpuMs, batching.databaseCpuMs));
  }
  if (exhausted) ratios.push(ratio(`p99, exhausted / guard, ${connections}`, database, exhausted.p99Ms, guard.p99Ms));
  return [...rates, ...ratios];
}
