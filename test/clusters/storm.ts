import { setTimeout as sleep } from 'node:timers/promises';
import { startInstances, type Cluster } from './cluster';
import { figure, type Outcome } from './scenario';
import { LogoutClient, RacingClient, RefreshingClient, type Group } from './storm-clients';
import { inspect, prepare } from './tables';
import type { Workspace } from './workspace';

/**
 * The grace period of instances behind a load balancer: the longest outage here (12 s), the deadline for a 503
 * (5 s), and `Retry-After` (1 s), rounded up.
 */
const GRACE_SECONDS = 20;

export const WITNESS = 'alice';

const OTHERS = [LogoutClient, LogoutClient, RacingClient, RacingClient];
const CLIENTS = [...Array.from({ length: 24 }, () => RefreshingClient), ...OTHERS];
const WARM_UP_MS = 3_000;
/** The time in which every client must be served again. */
const RECOVERY_MS = 45_000;

/** The highest allowed figures of an application. Infinity if a figure is only reported. */
const TARGETS = {
  'false alarms': 0,
  'sessions lost': 0,
  'wrong responses': 0,
  '503 during': Infinity,
  '503 after': Infinity,
  // The client that is served last has waited for a deadline of 5 s and then for a `Retry-After` of 5 s.
  'recovery of the first client, s': 10,
  'recovery of all clients, s': 11,
};

type Figures = typeof TARGETS;

/** The targets of a scenario that differ, for both applications, and for the one with spread routing. */
export type StormTargets = Partial<Figures> & { readonly spread?: Partial<Figures> };

/** Breaks the cluster, and resolves when the cluster can serve again. `urls` are the URLs of the instances. */
export type Fault<C extends Cluster> = (cluster: C, urls: readonly string[]) => Promise<unknown>;

/**
 * Runs two applications on a cluster while the cluster fails. Each client of the first application uses one
 * instance. Each client of the second application uses both instances, which have a grace period. Returns the figures
 * of both, and the names of the signals that the four instances emitted.
 */
export async function storm<C extends Cluster>(
  workspace: Workspace,
  cluster: C,
  fault: Fault<C>,
  { spread, ...targets }: StormTargets = {},
): Promise<{ readonly outcomes: readonly Outcome[]; readonly signals: readonly string[] }> {
  const names = ['own', 'spread'] as const;
  await prepare(cluster, [WITNESS, ...names.flatMap(usersOf)]);
  const applications = await Promise.all(names.map((name) => start(workspace, cluster, name)));
  const refreshers = applications.flatMap((application) => application.refreshers);
  const running = Promise.all(applications.flatMap(({ clients }) => clients.map((client) => client.run())));
  await sleep(WARM_UP_MS);
  await fault(
    cluster,
    applications.flatMap(({ group }) => group.urls),
  );
  const healedAt = performance.now();
  const isAnyoneWaiting = (): boolean => refreshers.some((one) => one.servedSince(healedAt).length < 2);
  while (performance.now() - healedAt < RECOVERY_MS && isAnyoneWaiting()) await sleep(100);
  for (const { group } of applications) group.isOver = true;
  await running;
  const servers = applications.flatMap((application) => application.servers);
  await Promise.all(servers.map((server) => server.kill()));

  const { violations, alarmed } = await inspect(
    cluster,
    refreshers.flatMap((one) => one.holder()),
  );
  const outcomes = applications.map(({ group, refreshers: own }): Outcome => {
    const { name, graceSeconds, lost, wrong, unavailable } = group;
    // A retry after a lost response was treated as reuse. Racing clients without a grace period cause reuse.
    const isExpected = (user: string): boolean => graceSeconds === 0 && user.includes(RacingClient.name);
    const falseAlarms = alarmed.filter((user) => user.startsWith(name) && !isExpected(user));
    const recoveries = own.map((one) => (one.servedSince(healedAt)[0] ?? Infinity) - healedAt);
    const unavailableAfter = unavailable.filter((at) => at >= healedAt).length;
    const values: Figures = {
      'false alarms': falseAlarms.length,
      'sessions lost': lost.length,
      'wrong responses': wrong.length + violations.length,
      '503 during': unavailable.length - unavailableAfter,
      '503 after': unavailableAfter,
      'recovery of the first client, s': seconds(Math.min(...recoveries)),
      'recovery of all clients, s': seconds(Math.max(...recoveries)),
    };
    const atMost = { ...TARGETS, ...targets, ...(name === 'spread' ? spread : {}) };
    return {
      subject: name === 'own' ? 'sticky routing' : `spread routing, grace period ${graceSeconds} s`,
      figures: Object.entries(values).map(([key, value]) => figure(key, value, atMost[key as keyof Figures])),
      // `main.ts` shows only the first details, because many sessions may be lost.
      details: [...falseAlarms.map((user) => `${user}: false alarm`), ...wrong, ...violations, ...lost],
    };
  });
  return { outcomes, signals: servers.flatMap((server) => server.signals) };
}

async function start(workspace: Workspace, cluster: Cluster, name: Group['name']) {
  const graceSeconds = name === 'spread' ? (cluster.graceSeconds ?? GRACE_SECONDS) : 0;
  // The checker needs a complete log.
  const options = { history: { maxRowsPerUser: 10_000_000 }, refreshReuseGraceSeconds: graceSeconds };
  const { servers, urls } = await startInstances(cluster, options, workspace);
  const group: Group = { name, graceSeconds, urls, isOver: false, unavailable: [], lost: [], wrong: [] };
  const users = usersOf(name);
  const clients = CLIENTS.map((Client, index) => new Client(users[index]!, group, index));
  return { group, servers, clients, refreshers: clients.filter((client) => client instanceof RefreshingClient) };
}

const usersOf = (name: Group['name']): string[] => CLIENTS.map((Client, index) => `${name} ${Client.name} ${index}`);

const seconds = (ms: number): number => Math.round(ms / 100) / 10;
