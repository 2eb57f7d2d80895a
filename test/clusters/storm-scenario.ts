import type { Cluster } from './cluster';
import type { StormFigures } from './figures';
import { figure, type Outcome, type Scenario } from './scenario';
import { GRACE_SECONDS, storm, type Fault } from './storm';
import type { Workplace } from './workplace';

/** What is asked of a storm besides what is asked of each: no false alarm, and no wrong response. */
export interface StormAims {
  /** Whether sessions may be lost, because commits were. */
  readonly mayLose?: boolean;
  /** Whether an instance may not know yet what another one has answered. */
  readonly mayBeStale?: boolean;
  /** 503s after the fault. */
  readonly unavailableAfter?: number;
  /** Until a client is served again that need not wait, and until each is. */
  readonly servedWithin?: { readonly first: number; readonly all: number };
}

/** After connections to a server that takes no writes. Who was told to come back in 5 s does so first. */
export const FLAP: StormAims = { unavailableAfter: 49, servedWithin: { first: 2, all: 7 } };

type Description = Pick<Scenario, 'name' | 'title' | 'isShort'>;

export interface StormDescription<C extends Cluster, Setup> extends Description {
  readonly setup?: Setup;
  readonly aims?: StormAims;
  readonly fault: Fault<C>;
}

/** Whoever was refused last waits for a deadline of 5 s and for a `Retry-After` of 5 s, and is served by then. In seconds. */
const SERVED_WITHIN = { first: 10, all: 11 };

/** Scenarios in which clients refresh their sessions while a cluster breaks. */
export function stormsOn<C extends Cluster, Setup extends object>(
  cluster: Scenario['cluster'],
  start: (workplace: Workplace, setup: Setup | Record<never, never>) => Promise<C>,
): (description: StormDescription<C, Setup>) => Scenario {
  return ({ name, title, isShort = false, setup = {}, aims = {}, fault }) => ({
    ...{ name, title, isShort, cluster },
    async run(workplace) {
      return outcomesOf(await storm(await start(workplace, setup), fault, workplace.teardown), aims);
    },
  });
}

const SUBJECTS = {
  own: 'each with its instance',
  spread: `spread, grace period ${GRACE_SECONDS} s`,
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
      figure('first served, s', seconds(group.served.first), servedWithin.first),
      figure('all served, s', seconds(group.served.all), servedWithin.all),
    ],
    // The first are shown: lost sessions may be many.
    details: [...group.falseAlarms.map((name) => `${name}: false alarm`), ...group.wrong, ...violations, ...group.lost],
  }));
}

function seconds(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms / 100) / 10;
}
