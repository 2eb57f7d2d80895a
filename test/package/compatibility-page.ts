import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MatrixResult, Row } from './matrix-result';
import { ROOT } from './run';

const PAGE = join(ROOT, 'docs/compatibility.md');
const BETWEEN = /(<!-- written by npm run matrix -- --write -->\n)[^]*(<!-- until here -->)/;

/** Puts what was seen where the page has its markers. */
export function writePage(result: MatrixResult): void {
  const page = readFileSync(PAGE, 'utf8');
  if (!BETWEEN.test(page)) throw new Error('docs/compatibility.md has lost its markers.');
  writeFileSync(
    PAGE,
    page.replace(BETWEEN, (_, begin: string, end: string) => `${begin}\n${render(result)}\n${end}`),
  );
}

/** The two tables: what was seen, and with which versions. */
export function render({ rows, installed }: MatrixResult): string {
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
