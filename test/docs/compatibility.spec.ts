import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LAYOUTS, NODE_LINES, NODES, VERSIONS } from '../package/settings';

const ROOT = join(__dirname, '../..');
const rows = readFileSync(join(ROOT, 'docs/compatibility.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.split('|').map((cell) => cell.trim()));

describe('docs/compatibility.md', () => {
  const head = rows.find(([, first]) => first === 'Nest')!;
  const seen = rows.filter(([, nest, typeorm]) => VERSIONS.some((one) => one.nest === nest && one.typeorm === typeorm));

  it('the compatibility table has a row for each combination of versions and layouts, and a column for each Node', () => {
    const expected = VERSIONS.flatMap(({ nest, typeorm }) =>
      LAYOUTS.map(({ modules, resolution }) => [nest, typeorm, modules, resolution]),
    );
    expect(seen.map((row) => row.slice(1, 5))).toEqual(expected);
    const tried = head.filter((cell) => cell.endsWith(', PostgreSQL')).map((cell) => cell.split(',')[0]!);
    expect(tried).toHaveLength(NODES.length);
    NODES.forEach((node, index) => expect(`${tried[index]}.`).toMatch(new RegExp(`^${node.replace(/\./g, '\\.')}\\.`)));
  });

  it('the compatibility table reports that every tested application compiles and works', () => {
    for (const row of seen) {
      expect(row[5]).toMatch(/^compile with \d/);
      expect(new Set(row.slice(6, -1))).toEqual(new Set(['works']));
      expect(row).toHaveLength(head.length);
    }
  });

  it('the compatibility table reports that the commands of the README work on each Node line', () => {
    const clones = rows.filter(([, , sqlite]) => /^`(node:sqlite|better-sqlite3)`$/.test(sqlite ?? ''));
    expect(clones.map(([, node]) => node!.split('.')[0])).toEqual(NODE_LINES);
    for (const [, node, sqlite, outcome] of clones) {
      expect([sqlite, outcome]).toEqual([node!.startsWith('20.') ? '`better-sqlite3`' : '`node:sqlite`', 'works']);
    }
  });

  it('the compatibility table covers the versions that peerDependencies allow', () => {
    const library = JSON.parse(readFileSync(join(ROOT, 'libs/auth/package.json'), 'utf8')) as {
      peerDependencies: Record<string, string>;
    };
    const majors = (range: string): string[] => [...range.matchAll(/\^(\d+)/g)].map(([, major]) => major!);
    expect(majors(library.peerDependencies['@nestjs/core']!)).toEqual([...new Set(VERSIONS.map(({ nest }) => nest))]);
    const typeorm = VERSIONS.map((version) => version.typeorm.split('.')[0]);
    expect(majors(library.peerDependencies['typeorm']!)).toEqual([...new Set(typeorm)]);
  });
});
