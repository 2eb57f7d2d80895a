import { createDatabase } from '../../../test/support/databases';
import { ApplicationProcess } from '../application/application-process';
import type { ContenderName } from '../contenders/contender';
import { assertAllSucceeded, runLoad } from '../load/load';
import { cpuMsBetween, databaseCpu } from '../measure/cpu';
import { counted, figure, log, ratio, type Figure, type Part } from '../measure/part';
import { shuffled } from '../measure/statistics';
import type { Teardown } from '../measure/teardown';
import type { DatabaseName, Settings } from '../settings';

/** The figures of a contender, by round. */
interface Rounds {
  readonly perSecond: number[];
  readonly p99Ms: number[];
  /** The processor time of the database server per request, in milliseconds. */
  readonly databaseCpuMs: number[];
}

/**
 * Measures a route behind different guards. Each round measures every contender, so that changes in the speed of the
 * machine affect all of them.
 */
export const measureGuard: Part = async (settings, teardown) => {
  const figures: Figure[] = [];
  for (const database of settings.databases) {
    const applications = await startApplications(database, settings, teardown);
    for (const [name, application] of applications) await load(name, application, 8, settings.warmupSeconds, settings);
    for (const connections of settings.connections) {
      const measured = new Map([...applications.keys()].map((name) => [name, emptyRounds()]));
      for (let round = 1; round <= settings.rounds; round++) {
        log(`guard: ${database}, ${counted(connections, 'connection')}, round ${round} of ${settings.rounds}`);
        for (const [name, application] of shuffled([...applications])) {
          const before = databaseCpu(database);
          const result = await load(name, application, connections, settings.seconds, settings);
          const rounds = measured.get(name)!;
          rounds.perSecond.push(result.requests / result.seconds);
          rounds.p99Ms.push(result.p99Ms);
          rounds.databaseCpuMs.push(cpuMsBetween(before, databaseCpu(database)) / result.requests);
        }
      }
      figures.push(...figuresOf(measured, database, counted(connections, 'connection')));
    }
    await teardown.run();
  }
  return figures;
};

function emptyRounds(): Rounds {
  return { perSecond: [], p99Ms: [], databaseCpuMs: [] };
}

async function startApplications(
  database: DatabaseName,
  { contenders, sessions, options }: Settings,
  teardown: Teardown,
): Promise<ReadonlyMap<ContenderName, ApplicationProcess>> {
  const applications = new Map<ContenderName, ApplicationProcess>();
  for (const contender of contenders) {
    // SQLite has one connection, which the library shares with the application.
    if (contender === 'exhausted' && database === 'sqlite') continue;
    log(`guard: starting ${contender} on ${database}`);
    const testDatabase = await createDatabase(database, { isDurable: true });
    teardown.add(() => testDatabase.drop());
    const spec = { contender, database: testDatabase.options, sessions, options };
    const application = await ApplicationProcess.start(spec);
    teardown.add(() => application.stop());
    applications.set(contender, application);
  }
  return applications;
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
