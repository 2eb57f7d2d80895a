import { setTimeout as sleep } from 'node:timers/promises';
import type { Teardown } from '../../bench/src/measure/teardown';
import { ServerProcess } from '../crash/server-process';
import type { Cluster } from './cluster';
import { figuresOf, type StormFigures } from './figures';
import { Journal } from './journal';
import { LogoutClient, RacingClient, RefreshingClient, type Group } from './storm-clients';
import { inspect, prepare } from './tables';

/**
 * The grace period of instances behind a load balancer: the longest outage here (12 s), the deadline for a 503
 * (5 s), and `Retry-After` (1 s), rounded up.
 */
export const GRACE_SECONDS = 20;

/** A user for requests of the scenario itself. */
export const WITNESS = 'alice';

/** The number of instances of all applications. */
export const INSTANCES = 4;

const REFRESHERS = 24;
const OTHERS = 2;
const PAUSE_MS = [200, 600] as const;
const WARM_UP_MS = 3_000;
/** The time in which every client must be served again. */
const RECOVERY_MS = 45_000;

/** The checker needs a complete log. */
const OPTIONS = { pruneIntervalSeconds: false, history: { maxRowsPerUser: 10_000_000 } } as const;

/** Breaks the cluster, and resolves when the cluster can serve again. `urls` are the URLs of the instances. */
export type Fault<C extends Cluster> = (cluster: C, urls: readonly string[]) => Promise<void>;

/** An application with two instances, and its clients. */
interface Application extends Group {
  readonly servers: readonly ServerProcess[];
  readonly refreshers: readonly RefreshingClient[];
  readonly leavers: readonly LogoutClient[];
  readonly racers: readonly RacingClient[];
}

const APPLICATIONS = [
  { name: 'own', isSpread: false, graceSeconds: 0 },
  { name: 'spread', isSpread: true, graceSeconds: GRACE_SECONDS },
] as const;

/**
 * Runs two applications on a cluster while the cluster fails. Each client of the first application uses one
 * instance. Each client of the second application uses both instances, which have a grace period.
 */
export async function storm<C extends Cluster>(cluster: C, fault: Fault<C>, teardown: Teardown): Promise<StormFigures> {
  await prepare(cluster.options(0), [WITNESS, ...APPLICATIONS.flatMap(({ name }) => usernamesOf(name))]);
  const applications = await Promise.all(APPLICATIONS.map((settings) => start(cluster, settings, teardown)));
  const refreshers = applications.flatMap((application) => application.refreshers);
  const others = applications.flatMap(({ leavers, racers }) => [...leavers, ...racers]);
  const running = Promise.all([...refreshers, ...others].map((client) => client.run()));
  await sleep(WARM_UP_MS);
  const brokenAt = performance.now();
  await fault(
    cluster,
    applications.flatMap(({ urls }) => urls),
  );
  const healedAt = performance.now();
  const isAnyoneWaiting = (): boolean => refreshers.some((one) => one.servedSince(healedAt).length < 2);
  while (performance.now() - healedAt < RECOVERY_MS && isAnyoneWaiting()) await sleep(100);
  for (const { journal } of applications) journal.isOver = true;
  await running;
  const servers = applications.flatMap((application) => application.servers);
  await Promise.all(servers.map((server) => server.kill()));

  const holders = refreshers.flatMap((one) => one.holder() ?? []);
  const { violations, alarmed } = await inspect(cluster.options(0), holders);
  return {
    faultMs: healedAt - brokenAt,
    groups: applications.map((one) => figuresOf(one, one.refreshers, falselyAlarmed(one, alarmed), healedAt)),
    violations,
    signals: countsOf(servers.flatMap((server) => server.signals)),
  };
}

async function start(
  cluster: Cluster,
  settings: (typeof APPLICATIONS)[number],
  teardown: Teardown,
): Promise<Application> {
  const options = { ...OPTIONS, ...cluster.auth, refreshReuseGraceSeconds: settings.graceSeconds };
  const servers = [0, 1].map((index) => ServerProcess.start(cluster.options(index), options));
  for (const server of servers) teardown.add(() => server.kill());
  const urls = (await Promise.all(servers.map((server) => server.url()))) as [string, string];
  const group: Group = { ...settings, urls, pauseMs: PAUSE_MS, journal: new Journal() };
  const clients = <T>(type: new (username: string, group: Group, index: number) => T, names: readonly string[]): T[] =>
    names.map((username, index) => new type(username, group, index));
  return {
    ...group,
    servers,
    refreshers: clients(RefreshingClient, refreshersOf(settings.name)),
    leavers: clients(LogoutClient, leaversOf(settings.name)),
    racers: clients(RacingClient, racersOf(settings.name)),
  };
}

/** Returns the users with unexpected reuse. Without a grace period, racing clients are expected to cause reuse. */
function falselyAlarmed({ name, graceSeconds }: Group, alarmed: readonly string[]): string[] {
  const guilty = graceSeconds === 0 ? racersOf(name) : [];
  return alarmed.filter((username) => usernamesOf(name).includes(username) && !guilty.includes(username));
}

const refreshersOf = (group: string): string[] => numbered(`${group} refresher`, REFRESHERS);
const leaversOf = (group: string): string[] => numbered(`${group} leaver`, OTHERS);
const racersOf = (group: string): string[] => numbered(`${group} racer`, OTHERS);
const usernamesOf = (group: string): string[] => [...refreshersOf(group), ...leaversOf(group), ...racersOf(group)];

function numbered(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${name} ${index}`);
}

function countsOf(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
