import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LAYOUTS, NODE_LINES, NODES, OLDER_LAYOUTS, OLDER_NODES, OLDER_VERSIONS, VERSIONS } from '../package/settings';

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

  it('the table of older versions reports that every tested application compiles and works', () => {
    const older = rows.filter((row) =>
      OLDER_VERSIONS.some(({ nest, typeorm }) => row[1] === nest && row[2] === typeorm),
    );
    const expected = OLDER_VERSIONS.flatMap(({ nest, typeorm }) =>
      OLDER_LAYOUTS.map(({ modules, resolution }) => [nest, typeorm, modules, resolution]),
    );
    expect(older.map((row) => row.slice(1, 5))).toEqual(expected);
    for (const row of older) {
      expect(row[5]).toMatch(/^compile with \d/);
      expect(row.slice(6, -1)).toEqual(Array(OLDER_NODES.length * 2).fill('works'));
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
    const all = [...OLDER_VERSIONS, ...VERSIONS];
    const tested = all.map(({ nest }) => nest).sort();
    expect(majors(library.peerDependencies['@nestjs/core']!)).toEqual([...new Set(tested)]);
    const typeorm = all.map((version) => version.typeorm.split('.')[0]);
    expect(majors(library.peerDependencies['typeorm']!)).toEqual([...new Set(typeorm)]);
    expect(library.peerDependencies['typeorm']).toContain(`^${OLDER_VERSIONS[0]!.typeorm} `);
  });
});
