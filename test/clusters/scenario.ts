import type { Workspace } from './workspace';

/** A figure of a scenario, and its highest allowed value. */
export interface Figure {
  readonly name: string;
  /** Null for an event that did not occur in time. */
  readonly value: number | null;
  /** Null if the figure is only reported. */
  readonly atMost: number | null;
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

export function isMet({ value, atMost }: Figure): boolean {
  return atMost === null || (value !== null && value <= atMost);
}

export function figure(name: string, value: number | null, atMost: number | null = null): Figure {
  return { name, value, atMost };
}
