import type { Cluster } from './cluster';
import type { StormFigures } from './figures';
import { figure, type Outcome, type Scenario } from './scenario';
import { GRACE_SECONDS, storm, type Fault } from './storm';
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

type Description = Pick<Scenario, 'name' | 'title' | 'isShort'>;

export interface StormDescription<C extends Cluster, Setup> extends Description {
  readonly setup?: Setup;
  readonly aims?: StormAims;
  readonly fault: Fault<C>;
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
): (description: StormDescription<C, Setup>) => Scenario {
  return ({ name, title, isShort = false, setup = {}, aims = {}, fault }) => ({
    ...{ name, title, isShort, cluster },
    async run(workspace) {
      return outcomesOf(await storm(await start(workspace, setup), fault, workspace.teardown), aims);
    },
  });
}

const SUBJECTS = {
  own: 'sticky routing',
  spread: `spread routing, grace period ${GRACE_SECONDS} s`,
} as const;

export function outcomesOf({ groups, violations }: StormFigures, aims: StormAims): Outcome[] {
  const { mayLose = false, mayBeStale = false, unavailableAfter = null, servedWithin = SERVED_WITHIN } = aims;
  return groups.map((group) => ({
    subject: SUBJECTS[group.name],
    figures: [
      figure('false alarms', group.falseAlarms.length, 0),
      figure('sessions lost', group.lost.length, mayLose || (mayBeStale && group.name === 'spread') ? null : 0),
      figure('wrong responses', group.wrong.length + violations.length, mayBeStale ? null : 0),
      figure('503 during', group.unavailable.during, null),
      figure('503 after', group.unavailable.after, unavailableAfter),
      figure('recovery of the first client, s', seconds(group.served.first), servedWithin.first),
      figure('recovery of all clients, s', seconds(group.served.all), servedWithin.all),
    ],
    // Shows only the first ones, because many sessions may be lost.
    details: [...group.falseAlarms.map((name) => `${name}: false alarm`), ...group.wrong, ...violations, ...group.lost],
  }));
}

function seconds(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms / 100) / 10;
}
