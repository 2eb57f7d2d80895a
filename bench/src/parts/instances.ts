import { Agent } from 'node:http';
import { createDatabase } from '../../../test/support/databases';
import type { Headers } from '../contenders/contender';
import { HostProcess } from '../host/host-process';
import { hasPgBouncer, startPgBouncer } from '../host/pgbouncer';
import { statusOf } from '../load/ask-each';
import { assertAllGood, runLoad } from '../load/load';
import type { CleanUp } from '../measure/clean-up';
import { cpuMsBetween, databaseCpu } from '../measure/cpu';
import { spread, type Spread } from '../measure/statistics';
import type { Settings } from '../settings';
import { tell, type Part } from './part';

const CONNECTIONS = 32;

/** Sessions that are ended while all instances are under load. */
const REVOKED = 50;

export interface InstancesCell {
  readonly way: 'direct' | 'pgbouncer';
  readonly instances: number;
  /** Of all instances together. */
  readonly perSecond: Spread;
  /** Of the slowest instance. */
  readonly p99Ms: Spread;
  /** Processor time of PostgreSQL, in milliseconds for 1,000 requests. */
  readonly databaseCpuMs: Spread;
  /** Logouts that were answered under load, and requests with their tokens, on every instance, that were let pass after. */
  readonly revoked: number;
  readonly passedAfter: number;
}

export interface InstancesResult {
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
  readonly cells: readonly InstancesCell[];
  readonly skipped: readonly string[];
}

/** Several instances on one PostgreSQL: what they do together, and whether a revocation is in force on all of them at once. */
export const measureInstances: Part<InstancesResult> = async (settings, cleanUp) => {
  const { rounds, seconds, databases } = settings;
  const cells: InstancesCell[] = [];
  const skipped: string[] = [];
  const result = { rounds, seconds, connections: CONNECTIONS, cells, skipped };
  if (!databases.includes('postgres')) return { ...result, skipped: ['PostgreSQL is not to be had'] };
  const ways = hasPgBouncer() ? (['direct', 'pgbouncer'] as const) : (['direct'] as const);
  if (ways.length === 1) skipped.push('behind PgBouncer: pgbouncer is not on the PATH');
  for (const way of ways) {
    for (const instances of settings.instances) {
      const hosts = await startInstances(way, instances, settings, cleanUp);
      cells.push({ way, instances, ...(await measureTogether(hosts, `${way}, ${instances} instances`, settings)) });
      await cleanUp.run();
    }
  }
  for (const what of skipped) tell(`instances: not measured ${what}`);
  return result;
};

async function startInstances(
  way: InstancesCell['way'],
  instances: number,
  { sessions, options, pgbouncerOptions }: Settings,
  cleanUp: CleanUp,
): Promise<HostProcess[]> {
  const own = await createDatabase('postgres');
  cleanUp.add(() => own.drop());
  let database = own.options;
  if (way === 'pgbouncer') {
    const bouncer = await startPgBouncer((own.options as { url: string }).url);
    cleanUp.add(() => bouncer.stop());
    database = { ...own.options, url: bouncer.url } as typeof own.options;
  }
  const hosts: HostProcess[] = [];
  for (let index = 0; index < instances; index++) {
    const host = await HostProcess.start({
      contender: 'ours',
      database,
      // The first one makes the sessions of all.
      sessions: index === 0 ? sessions + REVOKED : 0,
      options: way === 'pgbouncer' ? { ...options, ...pgbouncerOptions } : options,
    });
    cleanUp.add(() => host.stop());
    hosts.push(host);
  }
  return hosts;
}

async function measureTogether(
  hosts: readonly HostProcess[],
  title: string,
  { rounds, seconds, load, warmupSeconds }: Settings,
): Promise<Omit<InstancesCell, 'way' | 'instances'>> {
  const headers = hosts[0]!.headers.slice(REVOKED);
  const connections = Math.max(1, Math.round(CONNECTIONS / hosts.length));
  const loadAll = (time: number): Promise<Awaited<ReturnType<typeof runLoad>>[]> =>
    Promise.all(hosts.map(({ url }) => runLoad(load, { url: `${url}/me`, headers, connections, seconds: time })));
  await loadAll(warmupSeconds);
  const perSecond: number[] = [];
  const p99Ms: number[] = [];
  const databaseCpuMs: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    tell(`instances: ${title}, round ${round} of ${rounds}`);
    const before = databaseCpu('postgres');
    const results = await loadAll(seconds);
    const used = cpuMsBetween(before, databaseCpu('postgres'));
    for (const result of results) assertAllGood(title, result);
    const requests = results.reduce((sum, result) => sum + result.requests, 0);
    perSecond.push(results.reduce((sum, result) => sum + result.requests / result.seconds, 0));
    p99Ms.push(Math.max(...results.map((result) => result.p99Ms)));
    databaseCpuMs.push(used / (requests / 1000));
  }
  const [passedAfter] = await Promise.all([passedAfterLogout(hosts), loadAll(seconds)]);
  return {
    perSecond: spread(perSecond),
    p99Ms: spread(p99Ms),
    databaseCpuMs: spread(databaseCpuMs),
    revoked: REVOKED,
    passedAfter,
  };
}

/** Logs sessions out on one instance after the other, and asks all of them as soon as that was answered. */
async function passedAfterLogout(hosts: readonly HostProcess[]): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  let passed = 0;
  try {
    for (const [index, header] of hosts[0]!.headers.slice(0, REVOKED).entries()) {
      const token = tokenIn(header);
      const logout = `${hosts[index % hosts.length]!.url}/auth/logout/`;
      const status = await statusOf(logout, agent, token, 'POST');
      if (status !== 200) throw new Error(`A logout was answered with ${status}.`);
      const after = await Promise.all(hosts.map(({ url }) => statusOf(`${url}/me`, agent, token)));
      passed += after.filter((one) => one !== 401).length;
    }
  } finally {
    agent.destroy();
  }
  return passed;
}

function tokenIn(headers: Headers): string {
  return headers['authorization'] ?? '';
}
