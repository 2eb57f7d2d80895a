import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { groupsOf, INDEX } from '../../website/pages';

const LIBRARY = join(__dirname, '../../libs/auth/src');
const TESTS = join(__dirname, '..');

/** Files that do not count: migrations, which never change after a release, and the list of passwords, which is data. */
const EXEMPT = /(?:\.spec\.ts|migrations\.ts|frequent-passwords\.ts)$/;

/** Returns each size and its maximum. What does not fit replaces something else. */
export function budgets(): Readonly<Record<string, { readonly size: number; readonly budget: number }>> {
  const library = sourcesIn(LIBRARY).filter((path) => !EXEMPT.test(path));
  return {
    'lines of libs/auth/src': { size: linesOf(library), budget: 16_900 },
    'files of libs/auth/src': { size: library.length, budget: 150 },
    'lines of test': { size: linesOf(sourcesIn(TESTS)), budget: 36_100 },
    ...words(),
  };
}

/** Pages of which a script writes the text, or that describe the repository. */
const UNCOUNTED = /options|SECURITY|ARCHITECTURE|CHANGELOG/;
/** Code blocks, generated tables and the targets of links. */
const UNREAD = /^( *)```[^]*?^ *```$|<!-- .*(?:bench:|written by)[^]*?<!-- (?:\/bench|until here)|\]\([^)]*\)/gm;
/** Guides that are still longer than 1,500 words. */
const LONG: Readonly<Record<string, number>> = { 'docs/operations.md': 1_900 };

function words(): ReturnType<typeof budgets> {
  const read = (file: string): string => readFileSync(join(LIBRARY, '../../..', file), 'utf8');
  const pages = groupsOf(read(INDEX)).flatMap(({ title, pages }) => pages.map(({ file }) => ({ title, file })));
  pages.push({ title: '', file: INDEX });
  const counted = pages
    .filter(({ file }) => !UNCOUNTED.test(file))
    .map(({ title, file }) => {
      const size = read(file)
        .replace(UNREAD, ' ')
        .match(/[^\s|]*[\p{L}\p{N}][^\s|]*/gu)!.length;
      return { title, file, size, budget: LONG[file] ?? (title === 'How-to guides' ? 1_500 : 2_500) };
    });
  const [dossier, others] = [true, false].map((is) => counted.filter(({ title }) => (title === 'Dossier') === is));
  const total = (list: typeof counted): number => list.reduce((sum, { size }) => sum + size, 0);
  return {
    'words of the dossier': { size: total(dossier!), budget: 25_000 },
    'words of all other documents': { size: total(others!), budget: 55_000 },
    ...Object.fromEntries(others!.map(({ file, size, budget }) => [`words of ${file}`, { size, budget }])),
  };
}

function sourcesIn(folder: string): string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return paths.filter((path) => /\.m?ts$/.test(path)).map((path) => join(folder, path));
}

function linesOf(paths: readonly string[]): number {
  return paths.reduce((sum, path) => sum + readFileSync(path, 'utf8').split('\n').length - 1, 0);
}
