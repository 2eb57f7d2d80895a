import { createDatabase, type DatabaseName } from '../../../test/support/databases';
import type { ContenderName } from '../contenders/contender';
import { HostProcess } from '../host/host-process';
import { assertAllGood, runLoad } from '../load/load';
import { cpuMsBetween, cpuOf, databaseCpu } from '../measure/cpu';
import { ratios, shuffled, spread, type Spread } from '../measure/statistics';
import type { CleanUp } from '../measure/clean-up';
import type { Settings } from '../settings';
import { tell, type Part } from './part';

/** How one contender did on one database at one number of connections. */
export interface GuardCell {
  readonly database: DatabaseName;
  readonly connections: number;
  readonly contender: ContenderName;
  readonly requests: number;
  /** Requests in a second. */
  readonly perSecond: Spread;
  readonly p50Ms: Spread;
  readonly p99Ms: Spread;
  /** Processor time of the host, in milliseconds for 1,000 requests. */
  readonly serverCpuMs: Spread;
  /** The same of all processes of the database server on this machine. */
  readonly databaseCpuMs: Spread;
  /** Requests in a second by those of each other contender in the same round. */
  readonly against: Partial<Record<ContenderName, Spread>>;
  /** The 99th percentile by that of each other contender in the same round. */
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

/** Every contender in every round, so that what drifts on the machine hits all of them alike. */
export const measureGuard: Part<GuardResult> = async (settings, cleanUp) => {
  const { rounds, seconds, sessions, load } = settings;
  const cells: GuardCell[] = [];
  for (const database of settings.databases) {
    const hosts = await startHosts(database, settings, cleanUp);
    for (const [name, host] of hosts) {
      const job = { url: `${host.url}/me`, headers: host.headers, connections: 8, seconds: settings.warmupSeconds };
      assertAllGood(`${name} on ${database}`, await runLoad(load, job));
    }
    for (const connections of settings.connections) {
      const measured = new Map([...hosts.keys()].map((name) => [name, [] as Round[]]));
      for (let round = 1; round <= rounds; round++) {
        tell(`guard: ${database}, ${connections} connections, round ${round} of ${rounds}`);
        for (const [name, host] of shuffled([...hosts])) {
          measured.get(name)!.push(await measureRound(name, host, database, connections, settings));
        }
      }
      cells.push(...summarize(database, connections, measured));
    }
    await cleanUp.run();
  }
  return { rounds, seconds, sessions, load, cells };
};

async function startHosts(
  database: DatabaseName,
  { contenders, sessions, options }: Settings,
  cleanUp: CleanUp,
): Promise<Map<ContenderName, HostProcess>> {
  const hosts = new Map<ContenderName, HostProcess>();
  for (const contender of contenders) {
    if (contender === 'express-session' && database !== 'postgres') continue;
    tell(`guard: starting ${contender} on ${database}`);
    const own = await createDatabase(database);
    cleanUp.add(() => own.drop());
    const host = await HostProcess.start({ contender, database: own.options, sessions, options });
    cleanUp.add(() => host.stop());
    hosts.set(contender, host);
  }
  return hosts;
}

async function measureRound(
  name: ContenderName,
  host: HostProcess,
  database: DatabaseName,
  connections: number,
  { seconds, load }: Settings,
): Promise<Round> {
  const [server, db] = [cpuOf([host.pid]), databaseCpu(database)];
  const result = await runLoad(load, { url: `${host.url}/me`, headers: host.headers, connections, seconds });
  assertAllGood(`${name} on ${database}`, result);
  const thousands = result.requests / 1000;
  return {
    requests: result.requests,
    perSecond: result.requests / result.seconds,
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
    serverCpuMs: cpuMsBetween(server, cpuOf([host.pid])) / thousands,
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
