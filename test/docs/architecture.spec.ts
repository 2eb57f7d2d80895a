import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const guide = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');

/** What is named between backticks in the first cells of the table whose head begins so. */
function named(head: string): string[] {
  const rows = guide.split(`\n| ${head} |`)[1]!.split('\n\n')[0]!.split('\n').slice(2);
  return rows.flatMap((row) => [...row.split('|')[1]!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!));
}

function foldersIn(folder: string): string[] {
  const entries = readdirSync(join(ROOT, folder), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => `${name}/`);
}

describe('the page on the architecture', () => {
  it('names the folders of the library', () => {
    const folders = named('Folder of `libs/auth/src`').filter((name) => name.endsWith('/'));
    expect(folders.sort()).toEqual(foldersIn('libs/auth/src').sort());
  });

  it('names the folders of the tests', () => {
    expect(named('Folder of `test`').sort()).toEqual(foldersIn('test').sort());
  });

  it('names files that there are', () => {
    const source = readdirSync(join(ROOT, 'libs/auth/src'), { recursive: true, encoding: 'utf8' });
    const files = [...guide.matchAll(/`([\w./-]+\.ts)`/g)].map(([, name]) => name!);
    expect(files.length).toBeGreaterThan(25);
    const elsewhere = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' });
    const known = [...source, ...elsewhere];
    expect(files.filter((name) => !known.some((path) => path === name || path.endsWith(`/${name}`)))).toEqual([]);
  });
});
