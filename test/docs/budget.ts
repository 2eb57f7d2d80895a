import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const LIBRARY = join(__dirname, '../../libs/auth/src');
const TESTS = join(__dirname, '..');

/** Files that do not count: migrations, which never change after a release, and the list of passwords, which is data. */
const EXEMPT = /(?:\.spec\.ts|migrations\.ts|frequent-passwords\.ts)$/;

/** Returns each size and its maximum. What does not fit replaces something else. */
export function budgets(): Readonly<Record<string, { readonly size: number; readonly budget: number }>> {
  const library = sourcesIn(LIBRARY).filter((path) => !EXEMPT.test(path));
  return {
    'lines of libs/auth/src': { size: linesOf(library), budget: 16_000 },
    'files of libs/auth/src': { size: library.length, budget: 150 },
    'lines of test': { size: linesOf(sourcesIn(TESTS)), budget: 39_600 },
  };
}

function sourcesIn(folder: string): string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return paths.filter((path) => /\.m?ts$/.test(path)).map((path) => join(folder, path));
}

function linesOf(paths: readonly string[]): number {
  return paths.reduce((sum, path) => sum + readFileSync(path, 'utf8').split('\n').length - 1, 0);
}
