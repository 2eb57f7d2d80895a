import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SOURCES = join(__dirname, '../../libs/auth/src');
const TESTS = join(__dirname, '..');

/** The maximum size of `libs/auth/src`. What does not fit replaces something else. */
export const BUDGET = { lines: 13_500, files: 100 } as const;

/** The maximum number of lines of all TypeScript files in `test`. */
export const TEST_LINES = 36_100;

/** Files that do not count: migrations, which never change after a release, and the list of passwords, which is data. */
const EXEMPT = /(?:\.spec\.ts|migrations\.ts|frequent-passwords\.ts)$/;

export interface Size {
  readonly lines: number;
  readonly files: number;
}

/** Returns the size of each folder of `libs/auth/src`. The files at the top count as the folder `.`. */
export function sizes(): ReadonlyMap<string, Size> {
  const found = new Map<string, Size>();
  for (const path of readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).sort()) {
    const file = path.replaceAll('\\', '/');
    if (!/\.m?ts$/.test(file) || EXEMPT.test(file)) continue;
    const folder = file.includes('/') ? file.split('/')[0]! : '.';
    const { lines, files } = found.get(folder) ?? { lines: 0, files: 0 };
    found.set(folder, { lines: lines + linesOf(join(SOURCES, file)), files: files + 1 });
  }
  return found;
}

export function total(): Size {
  const all = [...sizes().values()];
  return {
    lines: all.reduce((sum, { lines }) => sum + lines, 0),
    files: all.reduce((sum, { files }) => sum + files, 0),
  };
}

/** Returns the number of lines of all TypeScript files in `test`. */
export function testLines(): number {
  const paths = readdirSync(TESTS, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  return paths.reduce((sum, path) => sum + linesOf(join(TESTS, path)), 0);
}

function linesOf(path: string): number {
  return readFileSync(path, 'utf8').split('\n').length - 1;
}

/** Returns the size of each folder, the total and the budget, and the size and the budget of the tests, as a table. */
export function budgetTable(): string {
  const rows: [string, Size][] = [...sizes(), ['total', total()], ['budget', BUDGET]];
  const row = (name: string, lines: string, files: string): string =>
    `${name.padEnd(12)}${lines.padStart(8)}${files.padStart(7)}`;
  return [
    row('folder', 'lines', 'files'),
    ...rows.map(([name, { lines, files }]) => row(name, String(lines), String(files))),
    row('test', String(testLines()), ''),
    row('test budget', String(TEST_LINES), ''),
  ].join('\n');
}
