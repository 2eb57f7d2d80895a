import { figure, isMet, type Figure, type Outcome, type Scenario } from './scenario';

const NOT_RUN = 'did not run';

export interface Result {
  readonly scenario: Scenario;
  readonly outcomes: readonly Outcome[];
}

/** Merges several runs into the highest figures. A scenario that failed to run once counts as not run. */
export function worst(runs: readonly (readonly Result[])[]): Result[] {
  return runs[0]!.map(({ scenario }, index) => {
    const all = runs.map((results) => results[index]!.outcomes);
    const failed = all.find((outcomes) => outcomes.some(({ figures }) => figures.some(({ name }) => name === NOT_RUN)));
    return { scenario, outcomes: failed ?? all[0]!.map((_, row) => worstOf(all.map((outcomes) => outcomes[row]!))) };
  });
}

function worstOf(outcomes: readonly Outcome[]): Outcome {
  const [first] = outcomes as [Outcome];
  const figures = first.figures.map((figure, column) => ({
    ...figure,
    value: highest(outcomes.map((outcome) => outcome.figures[column]!.value)),
  }));
  return { ...first, figures };
}

/** Returns the result of a scenario that failed before the measurement. */
export function notRun(scenario: Scenario): Result {
  return { scenario, outcomes: [{ subject: '', figures: [figure(NOT_RUN, 1, 0)], details: [] }] };
}

/** Returns the highest value. Null means that an event did not occur, and is higher than any number. */
function highest(values: readonly (number | null)[]): number | null {
  return values.reduce((a, b) => (a === null || b === null ? null : Math.max(a, b)));
}

/** Renders a Markdown table for each set of figures. */
export function render(results: readonly Result[]): string {
  const rows = results.flatMap(({ scenario, outcomes }) => outcomes.map((outcome) => ({ scenario, outcome })));
  const heads = [...new Set(rows.map(({ outcome }) => headOf(outcome)))];
  return heads
    .map((head) => {
      const own = rows.filter(({ outcome }) => headOf(outcome) === head);
      const names = own[0]!.outcome.figures.map(({ name }) => name);
      return table(
        ['Cluster', 'What happens', 'Clients', ...names, 'Passed'],
        own.map(({ scenario, outcome: { subject, figures } }) => [
          ...[scenario.cluster, scenario.title, subject],
          ...figures.map(cell),
          figures.every(isMet) ? 'yes' : '**no**',
        ]),
      );
    })
    .join('\n\n');
}

function headOf({ figures }: Outcome): string {
  return figures.map(({ name }) => name).join('|');
}

function cell(figure: Figure): string {
  const value = figure.value === null ? 'never' : String(figure.value);
  return isMet(figure) ? value : `**${value}** (target: ${figure.atMost})`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
