import type { Workplace } from './workplace';

/** A figure of a scenario, and the most that it may be. */
export interface Figure {
  readonly name: string;
  /** Null for what did not happen in time. */
  readonly value: number | null;
  /** Null where the figure is only shown. */
  readonly atMost: number | null;
}

/** Figures that belong together, such as those of one application. */
export interface Outcome {
  readonly subject: string;
  readonly figures: readonly Figure[];
  /** What was counted, in words. */
  readonly details: readonly string[];
}

/** Something that happens to a cluster, and what is measured meanwhile. */
export interface Scenario {
  /** For `--only`. */
  readonly name: string;
  readonly cluster: 'PostgreSQL' | 'Galera';
  /** What happens, for the table. */
  readonly title: string;
  /** Whether it is part of the short form. */
  readonly isShort?: boolean;
  run(workplace: Workplace): Promise<readonly Outcome[]>;
}

export function isMet({ value, atMost }: Figure): boolean {
  return atMost === null || (value !== null && value <= atMost);
}

export function figure(name: string, value: number | null, atMost: number | null): Figure {
  return { name, value, atMost };
}
