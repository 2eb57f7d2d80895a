import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerProcess } from '../crash/server-process';
import { startInstances, type Cluster } from './cluster';
import { Journal, LogoutClient, RacingClient, RefreshingClient, type Group } from './storm-clients';
import { inspect, prepare } from './tables';
import type { Workspace } from './workspace';

/**
 * The grace period of instances behind a load balancer: the longest outage here (12 s), the deadline for a 503
 * (5 s), and `Retry-After` (1 s), rounded up.
 */
const GRACE_SECONDS = 20;

/** A user for requests of the scenario itself. */
export const WITNESS = 'alice';

/** The number of instances of all applications. */
export const INSTANCES = 4;

/** The number of clients of each kind in each application. */
const CLIENTS = { refresher: 24, leaver: 2, racer: 2 } as const;
const PAUSE_MS = [200, 600] as const;
const WARM_UP_MS = 3_000;
/** The time in which every client must be served again. */
const RECOVERY_MS = 45_000;

/** The checker needs a complete log. */
const OPTIONS = { history: { maxRowsPerUser: 10_000_000 } } as const;

/** Breaks the cluster, and resolves when the cluster can serve again. `urls` are the URLs of the instances. */
export type Fault<C extends Cluster> = (cluster: C, urls: readonly string[]) => Promise<void>;

/** What clients and the database recorded while a cluster failed. Times are values of `performance.now()`. */
export interface StormRecord {
  readonly healedAt: number;
  /**
   * The applications. `falseAlarms`: users whose sessions the server ended because it treated a request that was
   * repeated after a lost response as reuse.
   */
  readonly groups: readonly (Application & { readonly falseAlarms: readonly string[] })[];
  /** Inconsistencies in the tables. */
  readonly violations: readonly string[];
  /** The names of the signals that the instances emitted. */
  readonly signals: readonly string[];
}

/** An application with two instances, and its clients. */
interface Application extends Group {
  readonly servers: readonly ServerProcess[];
  readonly refreshers: readonly RefreshingClient[];
  readonly leavers: readonly LogoutClient[];
  readonly racers: readonly RacingClient[];
}

const APPLICATIONS = [
  { name: 'own', isSpread: false },
  { name: 'spread', isSpread: true },
] as const;

/**
 * Runs two applications on a cluster while the cluster fails. Each client of the first application uses one
 * instance. Each client of the second application uses both instances, which have a grace period.
 */
export async function storm<C extends Cluster>(
  cluster: C,
  fault: Fault<C>,
  workspace: Workspace,
): Promise<StormRecord> {
  await prepare(cluster.options(0), [WITNESS, ...APPLICATIONS.flatMap((one) => usersOf(one))]);
  const applications = await Promise.all(APPLICATIONS.map((settings) => start(cluster, settings, workspace)));
  const refreshers = applications.flatMap((application) => application.refreshers);
  const others = applications.flatMap(({ leavers, racers }) => [...leavers, ...racers]);
  const urls = applications.flatMap((application) => application.urls);
  const running = Promise.all([...refreshers, ...others].map((client) => client.run()));
  await sleep(WARM_UP_MS);
  await fault(cluster, urls);
  const healedAt = performance.now();
  const isAnyoneWaiting = (): boolean => refreshers.some((one) => one.servedSince(healedAt).length < 2);
  while (performance.now() - healedAt < RECOVERY_MS && isAnyoneWaiting()) await sleep(100);
  for (const { journal } of applications) journal.isOver = true;
  await running;
  const servers = applications.flatMap((application) => application.servers);
  await Promise.all(servers.map((server) => server.kill()));

  const holders = refreshers.flatMap((one) => one.holder() ?? []);
  const { violations, alarmed } = await inspect(cluster.options(0), holders);
  const groups = applications.map((one) => ({ ...one, falseAlarms: falselyAlarmed(one, alarmed) }));
  return { healedAt, groups, violations, signals: servers.flatMap((server) => server.signals) };
}

async function start(
  cluster: Cluster,
  settings: (typeof APPLICATIONS)[number],
  workspace: Workspace,
): Promise<Application> {
  const graceSeconds = settings.isSpread ? (cluster.graceSeconds ?? GRACE_SECONDS) : 0;
  const options = { ...OPTIONS, refreshReuseGraceSeconds: graceSeconds };
  const { servers, urls } = await startInstances(cluster, options, workspace);
  const group: Group = { ...settings, graceSeconds, urls, pauseMs: PAUSE_MS, journal: new Journal() };
  return {
    ...{ ...group, servers },
    refreshers: usersOf(group, 'refresher').map((user, index) => new RefreshingClient(user, group, index)),
    leavers: usersOf(group, 'leaver').map((user, index) => new LogoutClient(user, group, index)),
    racers: usersOf(group, 'racer').map((user, index) => new RacingClient(user, group, index)),
  };
}

/** Returns the users with unexpected reuse. Without a grace period, racing clients are expected to cause reuse. */
function falselyAlarmed(group: Group, alarmed: readonly string[]): string[] {
  const guilty = group.graceSeconds === 0 ? usersOf(group, 'racer') : [];
  const users = usersOf(group);
  return alarmed.filter((user) => users.includes(user) && !guilty.includes(user));
}

/** Returns the names of an application's users, or of the users of its clients of one kind. */
function usersOf({ name }: Pick<Group, 'name'>, kind?: keyof typeof CLIENTS): string[] {
  const kinds = kind ? [kind] : (Object.keys(CLIENTS) as (keyof typeof CLIENTS)[]);
  return kinds.flatMap((one) => Array.from({ length: CLIENTS[one] }, (_, index) => `${name} ${one} ${index}`));
}
