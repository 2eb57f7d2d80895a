import { figure, isMet, type Figure, type Outcome, type Scenario } from './scenario';

const NOT_RUN = 'did not run';

export interface Result {
  readonly scenario: Scenario;
  readonly outcomes: readonly Outcome[];
}

/** The worst of what was measured in several runs: the highest figures, or that a scenario did not run. */
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

/** What is shown of a scenario that failed before it could be measured. */
export function notRun(scenario: Scenario): Result {
  return { scenario, outcomes: [{ subject: '', figures: [figure(NOT_RUN, 1, 0)], details: [] }] };
}

/** Null, for what never happened, is worse than any number. */
function highest(values: readonly (number | null)[]): number | null {
  return values.reduce((a, b) => (a === null || b === null ? null : Math.max(a, b)));
}

/** A table for each set of figures, in Markdown. */
export function render(results: readonly Result[]): string {
  const rows = results.flatMap(({ scenario, outcomes }) => outcomes.map((outcome) => ({ scenario, outcome })));
  const heads = [...new Set(rows.map(({ outcome }) => headOf(outcome)))];
  return heads
    .map((head) => {
      const own = rows.filter(({ outcome }) => headOf(outcome) === head);
      const names = own[0]!.outcome.figures.map(({ name }) => name);
      return table(
        ['Cluster', 'What happens', 'Seen by', ...names, 'Met'],
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
  return isMet(figure) ? value : `**${value}** (aim: ${figure.atMost})`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
