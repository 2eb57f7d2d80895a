import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { machine } from '../../bench/src/measure/machine';
import { figure, isMet, type Figure, type Outcome, type Scenario } from './scenario';

const PAGE = join(__dirname, '../../docs/reliability.md');
const BETWEEN = /(<!-- written by npm run clusters -- --write -->\n)[^]*(<!-- until here -->)/;

/** The result of a scenario that failed before the measurement. */
export const NOT_RUN: readonly Outcome[] = [{ subject: '', figures: [figure('did not run', 1, 0)] }];

export interface Result {
  readonly scenario: Scenario;
  readonly outcomes: readonly Outcome[];
}

/** Merges several runs of a scenario into the highest figures. If it failed to run once, it counts as not run. */
export function worst(runs: readonly (readonly Outcome[])[]): readonly Outcome[] {
  if (runs.includes(NOT_RUN)) return NOT_RUN;
  const highest = (row: number, column: number) => Math.max(...runs.map((run) => run[row]!.figures[column]!.value));
  return runs[0]!.map(({ subject, figures }, row) => ({
    subject,
    figures: figures.map((one, column) => ({ ...one, value: highest(row, column) })),
  }));
}

/** Returns a table for each set of figures. */
export function render(results: readonly Result[]): string {
  const tables = new Map<string, string[]>();
  for (const { scenario, outcomes } of results) {
    for (const { subject, figures } of outcomes) {
      const names = figures.map(({ name }) => name).join(' | ');
      const head = [
        `| Cluster | What happens | Clients | ${names} | Passed |`,
        `|${' --- |'.repeat(figures.length + 4)}`,
      ];
      const passed = figures.every(isMet) ? 'yes' : '**no**';
      const row = `| ${[scenario.cluster, scenario.title, subject, ...figures.map(cell), passed].join(' | ')} |`;
      tables.set(names, [...(tables.get(names) ?? head), row]);
    }
  }
  return [...tables.values()].map((lines) => lines.join('\n')).join('\n\n');
}

function cell(figure: Figure): string {
  const value = figure.value === Infinity ? 'never' : String(figure.value);
  return isMet(figure) ? value : `**${value}** (target: ${figure.atMost})`;
}

/**
 * Writes the figures between the markers of the page.
 *
 * @param all the number of scenarios of the suite
 */
export function writePage(results: readonly Result[], times: number, all: number): void {
  const page = readFileSync(PAGE, 'utf8');
  if (!BETWEEN.test(page)) throw new Error('docs/reliability.md has lost its markers.');
  const tables = render(results);
  const { processor, cores, memoryGiB } = machine();
  const programs = Object.entries({
    PostgreSQL: `PostgreSQL ${programVersion('psql')}`,
    PgBouncer: `PgBouncer ${programVersion('pgbouncer')}`,
    Patroni: 'Patroni',
    Galera: `MariaDB ${programVersion('mariadb')} with Galera`,
    'Group Replication': 'MySQL 9 with Group Replication',
  }).flatMap(([word, program]) => (tables.includes(word) ? [program] : []));
  const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long' }).format(new Date());
  const number = results.length < all ? `${results.length} of the ${all} scenarios` : `All ${all} scenarios`;
  const text = `${number} on ${day}, the worst of ${times} runs. Node ${process.versions.node},
${programs.join(', ')}, all on one machine: ${processor}, ${cores} cores, ${memoryGiB} GiB.

${tables}
`;
  writeFileSync(
    PAGE,
    page.replace(BETWEEN, (_, begin: string, end: string) => `${begin}\n${text}\n${end}`),
  );
}

/** Returns the version of an installed program, or null if there is none. */
function programVersion(command: string): string | null {
  try {
    const output = execFileSync(command, ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return /(\d+\.[\d.]+)-MariaDB/.exec(output)?.[1] ?? /\d+\.[\d.]+/.exec(output)?.[0] ?? null;
  } catch {
    return null;
  }
}
