import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MatrixResult, Row } from './matrix-result';
import type { ReadmeRun } from './readme-commands';
import { ROOT } from './run';

const PAGE = join(ROOT, 'docs/compatibility.md');

/** Puts what was seen of one part where the page has its markers. */
export function writePart(part: 'hosts' | 'readme', text: string): void {
  const page = readFileSync(PAGE, 'utf8');
  const between = new RegExp(`(<!-- ${part}, written by npm run matrix -- --write -->\\n)[^]*?(<!-- until here -->)`);
  if (!between.test(page)) throw new Error('docs/compatibility.md has lost its markers.');
  writeFileSync(
    PAGE,
    page.replace(between, (_, begin: string, end: string) => `${begin}\n${text}\n${end}`),
  );
}

/** What was seen of the README's commands. */
export function renderReadme(runs: readonly ReadmeRun[]): string {
  const rows = runs.map(({ node, sqlite, failure }) => [node, `\`${sqlite}\``, failure ? 'fails' : 'works']);
  return `${table(['Node', 'SQLite', 'Installs, starts, and a user logs in'], rows)}\n`;
}

/** The two tables: what was seen, and with which versions. */
export function renderHosts({ rows, installed }: MatrixResult): string {
  const places = rows.find(({ runs }) => runs.length > 0)?.runs ?? [];
  const seen = table(
    [
      'Nest',
      'TypeORM',
      'Host',
      '`moduleResolution`',
      'Types, by TypeScript',
      ...places.map((one) => `${one.node}, ${one.database}`),
    ],
    rows.map((row) => [
      row.versions.nest,
      row.versions.typeorm,
      row.layout.modules,
      row.layout.resolution,
      typesOf(row),
      ...places.map((_, index) => (!row.runs[index] || row.runs[index].failure ? 'fails' : 'works')),
    ]),
  );
  const names = Object.keys(installed[0]?.resolved ?? {});
  const versions = table(
    names.map((name) => `\`${name}\``),
    installed.map(({ resolved }) => names.map((name) => resolved[name]!)),
  );
  return `${seen}\n\n${versions}\n`;
}

function typesOf({ failure, compilers, faulty }: Row): string {
  if (failure) return 'fail';
  const sound = `sound in ${compilers.join(' and ')}`;
  return faulty.length === 0 ? sound : `${sound}; errors in ${faulty.map((name) => `\`${name}\``).join(', ')} itself`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
