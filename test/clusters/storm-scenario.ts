import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from './cluster';
import type { Daemon } from './daemon';
import { figure, type Outcome, type Scenario } from './scenario';
import { storm, type Fault, type StormRecord } from './storm';
import type { Workspace } from './workspace';

/** The requirements of a scenario, in addition to those of all scenarios: no false alarms and no wrong responses. */
export interface StormAims {
  /** Whether sessions may be lost, because commits are lost. */
  readonly mayLose?: boolean;
  /** Whether an instance may not yet know a change that another instance has confirmed. */
  readonly mayBeStale?: boolean;
  /** The highest number of 503s after the fault. */
  readonly unavailableAfter?: number;
  /** Seconds until the first client is served (`first`), and until every client is served (`all`). */
  readonly servedWithin?: { readonly first: number; readonly all: number };
}

/** The aims if connections lead to a server that accepts no writes. Clients with a `Retry-After` of 5 s return first. */
export const FLAP: StormAims = { unavailableAfter: 49, servedWithin: { first: 2, all: 7 } };

interface StormOptions<Setup> {
  readonly isShort?: boolean;
  readonly setup?: Setup;
  readonly aims?: StormAims;
}

/** A fault in which a server hangs for some time. */
export function frozen<C extends Cluster>(daemonOf: (cluster: C) => Daemon | undefined, seconds: number): Fault<C> {
  return async (cluster) => {
    const daemon = daemonOf(cluster);
    daemon?.freeze();
    await sleep(seconds * 1_000);
    daemon?.thaw();
  };
}

/**
 * In seconds. The client that is served last has waited for a deadline of 5 s and then for a `Retry-After` of
 * 5 s.
 */
const SERVED_WITHIN = { first: 10, all: 11 };

/** Creates scenarios in which clients refresh their sessions while a cluster fails. */
export function stormsOn<C extends Cluster, Setup extends object>(
  cluster: Scenario['cluster'],
  start: (workspace: Workspace, setup: Setup | Record<never, never>) => Promise<C>,
): (name: string, title: string, fault: Fault<C>, options?: StormOptions<Setup>) => Scenario {
  return (name, title, fault, { isShort = false, setup = {}, aims = {} } = {}) => ({
    ...{ name, title, isShort, cluster },
    async run(workspace) {
      return outcomesOf(await storm(await start(workspace, setup), fault, workspace), aims);
    },
  });
}

export function outcomesOf({ healedAt, groups, violations }: StormRecord, aims: StormAims): Outcome[] {
  const { mayLose = false, mayBeStale = false, unavailableAfter = null, servedWithin = SERVED_WITHIN } = aims;
  return groups.map(({ name, graceSeconds, falseAlarms, refreshers, journal: { lost, wrong, unavailable } }) => {
    const after = unavailable.filter((at) => at >= healedAt).length;
    const served = refreshers.map((one) => one.servedSince(healedAt));
    const first = Math.min(...served.flat());
    const all = Math.max(...served.map(([earliest = Infinity]) => earliest));
    const figures = [
      figure('false alarms', falseAlarms.length, 0),
      figure('sessions lost', lost.length, mayLose || (mayBeStale && name === 'spread') ? null : 0),
      figure('wrong responses', wrong.length + violations.length, mayBeStale ? null : 0),
      figure('503 during', unavailable.length - after, null),
      figure('503 after', after, unavailableAfter),
      figure('recovery of the first client, s', seconds(first - healedAt), servedWithin.first),
      figure('recovery of all clients, s', seconds(all - healedAt), servedWithin.all),
    ];
    // `main.ts` shows only the first details, because many sessions may be lost.
    const details = [...falseAlarms.map((user) => `${user}: false alarm`), ...wrong, ...violations, ...lost];
    const subject = name === 'own' ? 'sticky routing' : `spread routing, grace period ${graceSeconds} s`;
    return { subject, figures, details };
  });
}

/** Returns the seconds, or null for an event that did not occur, whose time is infinite. */
function seconds(ms: number): number | null {
  return Number.isFinite(ms) ? Math.round(ms / 100) / 10 : null;
}
