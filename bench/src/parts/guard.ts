import { createDatabase } from '../../../test/support/databases';
import type { DatabaseName } from '../databases';
import type { ContenderName } from '../contenders/contender';
import { ApplicationProcess } from '../application/application-process';
import { assertAllSucceeded, runLoad } from '../load/load';
import { cpuMsBetween, cpuOf, databaseCpu } from '../measure/cpu';
import { ratios, shuffled, spread, type Spread } from '../measure/statistics';
import type { Teardown } from '../measure/teardown';
import type { Settings } from '../settings';
import { log, type Part } from './part';

/** The figures of a contender on a database with a number of connections. */
export interface GuardCell {
  readonly database: DatabaseName;
  readonly connections: number;
  readonly contender: ContenderName;
  readonly requests: number;
  /** Requests per second. */
  readonly perSecond: Spread;
  readonly p50Ms: Spread;
  readonly p99Ms: Spread;
  /** Processor time of the application, in milliseconds per 1,000 requests. */
  readonly serverCpuMs: Spread;
  /** Processor time of all processes of the database server on this machine, in milliseconds per 1,000 requests. */
  readonly databaseCpuMs: Spread;
  /** Requests per second divided by the requests per second of each other contender in the same round. */
  readonly against: Partial<Record<ContenderName, Spread>>;
  /** The 99th percentile divided by the 99th percentile of each other contender in the same round. */
  readonly p99Against: Partial<Record<ContenderName, Spread>>;
}

export interface GuardResult {
  readonly rounds: number;
  readonly seconds: number;
  readonly sessions: number;
  readonly load: string;
  readonly cells: readonly GuardCell[];
}

interface Round {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly serverCpuMs: number;
  readonly databaseCpuMs: number;
}

/**
 * Measures guards. Each round measures every contender, so that changes in the speed of the machine affect all
 * contenders.
 */
export const measureGuard: Part<GuardResult> = async (settings, teardown) => {
  const { rounds, seconds, sessions, load } = settings;
  const cells: GuardCell[] = [];
  for (const database of settings.databases) {
    const applications = await startApplications(database, settings, teardown);
    for (const [name, application] of applications) {
      const job = {
        url: `${application.url}/me`,
        headers: application.headers,
        connections: 8,
        seconds: settings.warmupSeconds,
      };
      assertAllSucceeded(`${name} on ${database}`, await runLoad(load, job));
    }
    for (const connections of settings.connections) {
      const measured = new Map([...applications.keys()].map((name) => [name, [] as Round[]]));
      for (let round = 1; round <= rounds; round++) {
        log(`guard: ${database}, ${connections} connections, round ${round} of ${rounds}`);
        for (const [name, application] of shuffled([...applications])) {
          measured.get(name)!.push(await measureRound(name, application, database, connections, settings));
        }
      }
      cells.push(...summarize(database, connections, measured));
    }
    await teardown.run();
  }
  return { rounds, seconds, sessions, load, cells };
};

async function startApplications(
  database: DatabaseName,
  { contenders, sessions, options }: Settings,
  teardown: Teardown,
): Promise<Map<ContenderName, ApplicationProcess>> {
  const applications = new Map<ContenderName, ApplicationProcess>();
  for (const contender of contenders) {
    if (contender === 'express-session' && database !== 'postgres') continue;
    log(`guard: starting ${contender} on ${database}`);
    const testDatabase = await createDatabase(database, { isDurable: true });
    teardown.add(() => testDatabase.drop());
    const application = await ApplicationProcess.start({
      contender,
      database: testDatabase.options,
      sessions,
      options,
    });
    teardown.add(() => application.stop());
    applications.set(contender, application);
  }
  return applications;
}

async function measureRound(
  name: ContenderName,
  application: ApplicationProcess,
  database: DatabaseName,
  connections: number,
  { seconds, load }: Settings,
): Promise<Round> {
  const [server, db] = [cpuOf([application.pid]), databaseCpu(database)];
  const result = await runLoad(load, {
    url: `${application.url}/me`,
    headers: application.headers,
    connections,
    seconds,
  });
  assertAllSucceeded(`${name} on ${database}`, result);
  const thousands = result.requests / 1000;
  return {
    requests: result.requests,
    perSecond: result.requests / result.seconds,
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
    serverCpuMs: cpuMsBetween(server, cpuOf([application.pid])) / thousands,
    databaseCpuMs: cpuMsBetween(db, databaseCpu(database)) / thousands,
  };
}

function summarize(
  database: DatabaseName,
  connections: number,
  measured: ReadonlyMap<ContenderName, readonly Round[]>,
): GuardCell[] {
  const all = [...measured];
  const of = (rounds: readonly Round[], figure: keyof Round): number[] => rounds.map((round) => round[figure]);
  return all.map(([contender, rounds]) => {
    const others = all.filter(([name]) => name !== contender);
    const against = (figure: keyof Round): GuardCell['against'] =>
      Object.fromEntries(others.map(([name, theirs]) => [name, ratios(of(rounds, figure), of(theirs, figure))]));
    return {
      database,
      connections,
      contender,
      requests: of(rounds, 'requests').reduce((sum, requests) => sum + requests, 0),
      perSecond: spread(of(rounds, 'perSecond')),
      p50Ms: spread(of(rounds, 'p50Ms')),
      p99Ms: spread(of(rounds, 'p99Ms')),
      serverCpuMs: spread(of(rounds, 'serverCpuMs')),
      databaseCpuMs: spread(of(rounds, 'databaseCpuMs')),
      against: against('perSecond'),
      p99Against: against('p99Ms'),
    };
  });
}
