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

/**
 * In seconds. The client that is served last has waited for a deadline of 5 s and then for a `Retry-After` of
 * 5 s.
 */
const SERVED_WITHIN = { first: 10, all: 11 };

/** Breaks the cluster, and resolves when the cluster can serve again. `urls` are the URLs of the instances. */
export type Fault<C extends Cluster> = (cluster: C, urls: readonly string[]) => Promise<unknown>;

/** The requirements of a scenario, in addition to those of all scenarios: no false alarms and no wrong responses. */
export interface StormAims {
  /** Whether sessions may be lost, because commits are lost. */
  readonly mayLose?: boolean;
  /** Whether an instance may not yet know a change that another instance has confirmed. */
  readonly mayBeStale?: boolean;
  readonly unavailableAfter?: number;
  /** Seconds until the first client is served (`first`), and until every client is served (`all`). */
  readonly servedWithin?: { readonly first: number; readonly all: number };
}

/**
 * Runs two applications on a cluster while the cluster fails. Each client of the first application uses one
 * instance. Each client of the second application uses both instances, which have a grace period. Returns the figures
 * of both, and the names of the signals that the four instances emitted.
 */
export async function storm<C extends Cluster>(
  workspace: Workspace,
  cluster: C,
  fault: Fault<C>,
  aims: StormAims = {},
): Promise<{ readonly outcomes: readonly Outcome[]; readonly signals: readonly string[] }> {
  const names = ['own', 'spread'] as const;
  await prepare(cluster, [WITNESS, ...names.flatMap(usersOf)]);
  const applications = await Promise.all(names.map((name) => start(workspace, cluster, name)));
  const clients = applications.flatMap((application) => application.clients);
  const refreshers = clients.filter((client) => client instanceof RefreshingClient);
  const running = Promise.all(clients.map((client) => client.run()));
  await sleep(WARM_UP_MS);
  const urls = applications.flatMap(({ group }) => group.urls);
  await fault(cluster, urls);
  const healedAt = performance.now();
  const isAnyoneWaiting = (): boolean => refreshers.some((one) => one.servedSince(healedAt).length < 2);
  while (performance.now() - healedAt < RECOVERY_MS && isAnyoneWaiting()) await sleep(100);
  for (const { group } of applications) group.journal.isOver = true;
  await running;
  const servers = applications.flatMap((application) => application.servers);
  await Promise.all(servers.map((server) => server.kill()));

  const holders = refreshers.flatMap((one) => one.holder() ?? []);
  const { violations, alarmed } = await inspect(cluster, holders);
  const outcomes = applications.map(({ group }) => {
    const own = refreshers.filter((client) => client.group === group);
    // Without a grace period, racing clients are expected to cause reuse.
    const isExpected = (user: string): boolean => group.graceSeconds === 0 && user.includes(RacingClient.name);
    const falseAlarms = alarmed.filter((user) => user.startsWith(group.name) && !isExpected(user));
    const served = own.map((one) => one.servedSince(healedAt));
    return outcomeOf(group, aims, healedAt, served, falseAlarms, violations);
  });
  return { outcomes, signals: servers.flatMap((server) => server.signals) };
}

async function start(workspace: Workspace, cluster: Cluster, name: Group['name']) {
  const isSpread = name === 'spread';
  const graceSeconds = isSpread ? (cluster.graceSeconds ?? GRACE_SECONDS) : 0;
  // The checker needs a complete log.
  const options = { history: { maxRowsPerUser: 10_000_000 }, refreshReuseGraceSeconds: graceSeconds };
  const { servers, urls } = await startInstances(cluster, options, workspace);
  const journal = { isOver: false, unavailable: [], lost: [], wrong: [] };
  const group: Group = { name, isSpread, graceSeconds, urls, journal };
  const users = usersOf(name);
  return { group, servers, clients: CLIENTS.map((Client, index) => new Client(users[index]!, group, index)) };
}

const usersOf = (name: Group['name']): string[] => CLIENTS.map((Client, index) => `${name} ${Client.name} ${index}`);

/**
 * @param served the times at which each client was served after the fault
 * @param falseAlarms users whose sessions the server ended because it treated a request that was repeated after a
 *   lost response as reuse
 * @param violations inconsistencies in the tables
 */
function outcomeOf(
  { name, graceSeconds, journal: { lost, wrong, unavailable } }: Group,
  { mayLose = false, mayBeStale = false, unavailableAfter, servedWithin = SERVED_WITHIN }: StormAims,
  healedAt: number,
  served: readonly (readonly number[])[],
  falseAlarms: readonly string[],
  violations: readonly string[],
): Outcome {
  const after = unavailable.filter((at) => at >= healedAt).length;
  const first = Math.min(...served.flat());
  const all = Math.max(...served.map(([earliest = Infinity]) => earliest));
  const figures = [
    figure('false alarms', falseAlarms.length, 0),
    figure('sessions lost', lost.length, mayLose || (mayBeStale && name === 'spread') ? null : 0),
    figure('wrong responses', wrong.length + violations.length, mayBeStale ? null : 0),
    figure('503 during', unavailable.length - after),
    figure('503 after', after, unavailableAfter),
    figure('recovery of the first client, s', seconds(first - healedAt), servedWithin.first),
    figure('recovery of all clients, s', seconds(all - healedAt), servedWithin.all),
  ];
  // `main.ts` shows only the first details, because many sessions may be lost.
  const details = [...falseAlarms.map((user) => `${user}: false alarm`), ...wrong, ...violations, ...lost];
  const subject = name === 'own' ? 'sticky routing' : `spread routing, grace period ${graceSeconds} s`;
  return { subject, figures, details };
}

/** Returns the seconds, or null for an event that did not occur, whose time is infinite. */
function seconds(ms: number): number | null {
  return Number.isFinite(ms) ? Math.round(ms / 100) / 10 : null;
}
