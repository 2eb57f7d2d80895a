import { figure, isMet, type Figure, type Outcome, type Scenario } from './scenario';

/** The result of a scenario that failed before the measurement. */
export const NOT_RUN: readonly Outcome[] = [{ subject: '', figures: [figure('did not run', 1, 0)] }];

export interface Result {
  readonly scenario: Scenario;
  readonly outcomes: readonly Outcome[];
}

/** Merges several runs into the highest figures. A scenario that failed to run once counts as not run. */
export function worst(runs: readonly (readonly Result[])[]): Result[] {
  return runs[0]!.map(({ scenario }, index) => {
    const all = runs.map((results) => results[index]!.outcomes);
    if (all.includes(NOT_RUN)) return { scenario, outcomes: NOT_RUN };
    return { scenario, outcomes: all[0]!.map((_, row) => worstOf(all.map((outcomes) => outcomes[row]!))) };
  });
}

/** Returns the highest figures. Null means that an event did not occur, and is higher than any number. */
function worstOf(outcomes: readonly Outcome[]): Outcome {
  const figures = outcomes[0]!.figures.map((one, column) => {
    const values = outcomes.map((outcome) => outcome.figures[column]!.value);
    return { ...one, value: values.includes(null) ? null : Math.max(...(values as number[])) };
  });
  return { ...outcomes[0]!, figures };
}

export function render(results: readonly Result[]): string {
  const rows = results.flatMap(({ scenario, outcomes }) => outcomes.map((outcome) => ({ scenario, ...outcome })));
  const namesOf = ({ figures }: Outcome): string => figures.map(({ name }) => name).join(' | ');
  const tables = [...new Set(rows.map(namesOf))].map((names) => ({
    names,
    own: rows.filter((row) => namesOf(row) === names),
  }));
  return tables
    .map(({ names, own }) => [
      `| Cluster | What happens | Clients | ${names} | Passed |`,
      `|${' --- |'.repeat(own[0]!.figures.length + 4)}`,
      ...own.map(({ scenario, subject, figures }) => {
        const passed = figures.every(isMet) ? 'yes' : '**no**';
        return `| ${[scenario.cluster, scenario.title, subject, ...figures.map(cell), passed].join(' | ')} |`;
      }),
    ])
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

function cell(figure: Figure): string {
  const value = figure.value === null ? 'never' : String(figure.value);
  return isMet(figure) ? value : `**${value}** (target: ${figure.atMost})`;
}
