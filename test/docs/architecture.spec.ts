import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const SOURCES = join(ROOT, 'libs/auth/src/');
const { forbidden } = jest.requireActual<{ forbidden: readonly { readonly name: string }[] }>(
  '../../.dependency-cruiser.cjs',
);
const guide = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');

/** Returns the code spans in the first column of the table with the given first header cell, row by row. */
function codeSpansUnder(head: string): string[][] {
  const rows = guide.split(`\n| ${head} |`)[1]!.split('\n\n')[0]!.trim().split('\n').slice(2);
  return rows.map((row) => [...row.split('|')[1]!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!));
}

function foldersIn(folder: string): string[] {
  const entries = readdirSync(join(ROOT, folder), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => `${name}/`);
}

describe('the architecture guide', () => {
  it('the architecture guide names the folders of the library and of the tests', () => {
    expect(codeSpansUnder('Folder of `test`').flat().sort()).toEqual(foldersIn('test').sort());
    const names = codeSpansUnder('Folder of `libs/auth/src`').flat();
    expect(names.filter((name) => name.endsWith('/')).sort()).toEqual(foldersIn('libs/auth/src').sort());
    const files = readdirSync(SOURCES).filter((name) => name.endsWith('.ts'));
    expect(names.filter((name) => !name.endsWith('/')).sort()).toEqual(files.sort());
  });

  it('the architecture guide lists the folders of the library in the order that the dependency rules enforce', () => {
    const suffix = '-imports-only-to-the-right';
    const rules = forbidden.map(({ name }) => name).filter((name) => name.endsWith(suffix));
    const order = ['testing', ...rules.map((name) => name.slice(0, -suffix.length)), 'node-sqlite', 'schematics'];
    const listed = codeSpansUnder('Folder of `libs/auth/src`').map(([name]) => name!.replace(/(\.ts|\/)$/, ''));
    expect(listed).toEqual(order.map((name) => (name === 'top' ? 'index' : name)));
  });

  it('the architecture guide names only files that exist', () => {
    const files = [...guide.matchAll(/`([\w./-]+\.ts)`/g)].map(([, name]) => name!);
    expect(files.length).toBeGreaterThan(80);
    const isMissing = (name: string): boolean => !existsSync(join(name.startsWith('test/') ? ROOT : SOURCES, name));
    expect(files.filter(isMissing)).toEqual([]);
  });

  it('the architecture guide names only methods that their files contain', () => {
    const steps = [...guide.matchAll(/`([\w./-]+\.ts)`\s((?:`\w+`(?:,\s)?)+)/g)].flatMap(([, file, names]) =>
      [...names!.matchAll(/\w+/g)].map(([name]) => ({ file: file!, name })),
    );
    expect(steps.length).toBeGreaterThan(50);
    const declares = ({ file, name }: (typeof steps)[number]): boolean =>
      new RegExp(`^ *(?:\\w+ )*\\*?${name}(?:<\\w+(?: \\w+)*>)?\\(`, 'm').test(
        readFileSync(join(SOURCES, file), 'utf8'),
      );
    expect(steps.filter((step) => !declares(step))).toEqual([]);
  });
});
