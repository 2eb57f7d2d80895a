import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ManagerRun } from './managers';
import type { MatrixResult, Row } from './matrix-result';
import type { ReadmeRun } from './readme-commands';
import { ROOT } from './run';

const PAGE = join(ROOT, 'docs/compatibility.md');

/** Writes the results of one part between its markers on the page. */
export function writePart(part: 'applications' | 'managers' | 'older' | 'readme', text: string): void {
  const page = readFileSync(PAGE, 'utf8');
  const between = new RegExp(`(<!-- ${part}, written by npm run matrix -- --write -->\\n)[^]*?(<!-- until here -->)`);
  if (!between.test(page)) throw new Error('docs/compatibility.md has lost its markers.');
  writeFileSync(
    PAGE,
    page.replace(between, (_, begin: string, end: string) => `${begin}\n${text}\n${end}`),
  );
}

/** Renders the results of package managers and bundlers. */
export function renderManagers(runs: readonly ManagerRun[]): string {
  const rows = runs.map(({ name, failure }) => [name, failure ? 'fails' : 'works']);
  return `${table(['Installed with', 'Starts, and a user logs in'], rows)}\n`;
}

/** Renders the results of the README's commands. */
export function renderReadme(runs: readonly ReadmeRun[]): string {
  const rows = runs.map(({ node, sqlite, failure }) => [node, `\`${sqlite}\``, failure ? 'fails' : 'works']);
  return `${table(['Node', 'SQLite', 'Installs, starts, and a user logs in'], rows)}\n`;
}

/** Renders two tables: the results, and the versions they were measured with. */
export function renderApplications({ rows, installed }: MatrixResult): string {
  const runs = rows.find(({ runs }) => runs.length > 0)?.runs ?? [];
  const results = table(
    [
      'Nest',
      'TypeORM',
      'Modules',
      '`moduleResolution`',
      'Types, by TypeScript',
      ...runs.map((one) => `${one.node}, ${one.database}`),
    ],
    rows.map((row) => [
      row.versions.nest,
      row.versions.typeorm,
      row.layout.modules,
      row.layout.resolution,
      typesOf(row),
      ...runs.map((_, index) => (!row.runs[index] || row.runs[index].failure ? 'fails' : 'works')),
    ]),
  );
  const names = Object.keys(installed[0]?.resolved ?? {});
  const versions = table(
    names.map((name) => `\`${name}\``),
    installed.map(({ resolved }) => names.map((name) => resolved[name]!)),
  );
  return `${results}\n\n${versions}\n`;
}

function typesOf({ failure, compilers, faulty }: Row): string {
  if (failure) return 'fail';
  const compiled = `compile with ${compilers.join(' and ')}`;
  return faulty.length === 0
    ? compiled
    : `${compiled}; errors in ${faulty.map((name) => `\`${name}\``).join(', ')} itself`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
