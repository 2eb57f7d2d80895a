import { Agent } from 'node:http';
import { createDatabase } from '../../../test/support/databases';
import type { Headers } from '../contenders/contender';
import { ApplicationProcess } from '../application/application-process';
import { hasPgBouncer, startPgBouncer } from '../application/pgbouncer';
import { statusOf } from '../load/request-each';
import { assertAllSucceeded, runLoad } from '../load/load';
import type { Teardown } from '../measure/teardown';
import { cpuMsBetween, databaseCpu } from '../measure/cpu';
import { spread, type Spread } from '../measure/statistics';
import type { Settings } from '../settings';
import { log, type Part } from './part';

const CONNECTIONS = 32;

/** The number of sessions that are logged out while all instances are under load. */
const REVOKED = 50;

export interface InstancesCell {
  readonly way: 'direct' | 'pgbouncer';
  readonly instances: number;
  /** Requests per second of all instances together. */
  readonly perSecond: Spread;
  /** The 99th percentile of the slowest instance, in milliseconds. */
  readonly p99Ms: Spread;
  /** Processor time of PostgreSQL, in milliseconds per 1,000 requests. */
  readonly databaseCpuMs: Spread;
  /** The number of sessions that were logged out under load. */
  readonly revoked: number;
  /** How often an instance accepted a token after the logout of its session. */
  readonly acceptedAfter: number;
}

export interface InstancesResult {
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
  readonly cells: readonly InstancesCell[];
  readonly skipped: readonly string[];
}

/**
 * Measures several instances on one PostgreSQL: their throughput, and whether a logout takes effect on all
 * instances immediately.
 */
export const measureInstances: Part<InstancesResult> = async (settings, teardown) => {
  const { rounds, seconds, databases } = settings;
  const cells: InstancesCell[] = [];
  const skipped: string[] = [];
  const result = { rounds, seconds, connections: CONNECTIONS, cells, skipped };
  if (!databases.includes('postgres')) return { ...result, skipped: ['PostgreSQL is unavailable'] };
  const ways = hasPgBouncer() ? (['direct', 'pgbouncer'] as const) : (['direct'] as const);
  if (ways.length === 1) skipped.push('behind PgBouncer (pgbouncer is not on the PATH)');
  for (const way of ways) {
    for (const instances of settings.instances) {
      const applications = await startInstances(way, instances, settings, teardown);
      cells.push({
        way,
        instances,
        ...(await measureTogether(applications, `${way}, ${instances} instances`, settings)),
      });
      await teardown.run();
    }
  }
  for (const what of skipped) log(`instances: not measured ${what}`);
  return result;
};

async function startInstances(
  way: InstancesCell['way'],
  instances: number,
  { sessions, options, pgbouncerOptions }: Settings,
  teardown: Teardown,
): Promise<ApplicationProcess[]> {
  const testDatabase = await createDatabase('postgres', { isDurable: true });
  teardown.add(() => testDatabase.drop());
  let database = testDatabase.options;
  if (way === 'pgbouncer') {
    const bouncer = await startPgBouncer((testDatabase.options as { url: string }).url);
    teardown.add(() => bouncer.stop());
    database = { ...testDatabase.options, url: bouncer.url } as typeof testDatabase.options;
  }
  const applications: ApplicationProcess[] = [];
  for (let index = 0; index < instances; index++) {
    const application = await ApplicationProcess.start({
      contender: 'ours',
      database,
      // The first instance creates the sessions of all instances.
      sessions: index === 0 ? sessions + REVOKED : 0,
      options: way === 'pgbouncer' ? { ...options, ...pgbouncerOptions } : options,
    });
    teardown.add(() => application.stop());
    applications.push(application);
  }
  return applications;
}

async function measureTogether(
  applications: readonly ApplicationProcess[],
  title: string,
  { rounds, seconds, load, warmupSeconds }: Settings,
): Promise<Omit<InstancesCell, 'way' | 'instances'>> {
  const headers = applications[0]!.headers.slice(REVOKED);
  const connections = Math.max(1, Math.round(CONNECTIONS / applications.length));
  const loadAll = (time: number): Promise<Awaited<ReturnType<typeof runLoad>>[]> =>
    Promise.all(
      applications.map(({ url }) => runLoad(load, { url: `${url}/me`, headers, connections, seconds: time })),
    );
  await loadAll(warmupSeconds);
  const perSecond: number[] = [];
  const p99Ms: number[] = [];
  const databaseCpuMs: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    log(`instances: ${title}, round ${round} of ${rounds}`);
    const before = databaseCpu('postgres');
    const results = await loadAll(seconds);
    const used = cpuMsBetween(before, databaseCpu('postgres'));
    for (const result of results) assertAllSucceeded(title, result);
    const requests = results.reduce((sum, result) => sum + result.requests, 0);
    perSecond.push(results.reduce((sum, result) => sum + result.requests / result.seconds, 0));
    p99Ms.push(Math.max(...results.map((result) => result.p99Ms)));
    databaseCpuMs.push(used / (requests / 1000));
  }
  const [acceptedAfter] = await Promise.all([acceptedAfterLogout(applications), loadAll(seconds)]);
  return {
    perSecond: spread(perSecond),
    p99Ms: spread(p99Ms),
    databaseCpuMs: spread(databaseCpuMs),
    revoked: REVOKED,
    acceptedAfter,
  };
}

/** Logs sessions out on alternating instances. After each response, tries the token on every instance. */
async function acceptedAfterLogout(applications: readonly ApplicationProcess[]): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  let accepted = 0;
  try {
    for (const [index, header] of applications[0]!.headers.slice(0, REVOKED).entries()) {
      const token = tokenIn(header);
      const logout = `${applications[index % applications.length]!.url}/auth/logout/`;
      const status = await statusOf(logout, agent, token, 'POST');
      if (status !== 200) throw new Error(`The response to a logout was ${status}, expected 200.`);
      const after = await Promise.all(applications.map(({ url }) => statusOf(`${url}/me`, agent, token)));
      accepted += after.filter((one) => one !== 401).length;
    }
  } finally {
    agent.destroy();
  }
  return accepted;
}

function tokenIn(headers: Headers): string {
  return headers['authorization'] ?? '';
}
