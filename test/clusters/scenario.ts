import type { Workspace } from './workspace';

/** A figure of a scenario. Infinity is an event that did not occur in time. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  /** The highest allowed value. Infinity if the figure is only reported. */
  readonly atMost: number;
}

/** Figures that belong together, such as those of one application. */
export interface Outcome {
  readonly subject: string;
  readonly figures: readonly Figure[];
  readonly details?: readonly string[];
}

/** A fault of a cluster, and the measurement that runs during the fault. */
export interface Scenario {
  readonly name: string;
  readonly cluster: 'PostgreSQL' | 'Patroni' | 'Galera' | 'Group Replication';
  /** Describes the fault in the table. */
  readonly title: string;
  /** Whether the scenario is part of the short suite. */
  readonly isShort?: boolean;
  run(workspace: Workspace): Promise<readonly Outcome[]>;
}

export function figure(name: string, value: number, atMost = Infinity): Figure {
  return { name, value, atMost };
}

export const isMet = ({ value, atMost }: Figure): boolean => value <= atMost;
