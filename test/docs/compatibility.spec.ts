import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  dependenciesOf,
  LAYOUTS,
  NODE_LINES,
  NODES,
  OLDER_LAYOUTS,
  OLDER_NODES,
  OLDER_VERSIONS,
  VERSIONS,
} from '../package/settings';

const ROOT = join(__dirname, '../..');
const rows = readFileSync(join(ROOT, 'docs/compatibility.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.split('|').map((cell) => cell.trim()));

describe('docs/compatibility.md', () => {
  it.each([
    ['current', VERSIONS, LAYOUTS, [...NODES, ...NODE_LINES]],
    ['older', OLDER_VERSIONS, OLDER_LAYOUTS, [...OLDER_NODES, ...OLDER_NODES]],
  ])('the table of %s versions reports that each combination compiles and works', (_, versions, layouts, nodes) => {
    const works = [expect.stringMatching(/^compile with \d/), ...nodes.map(() => 'works')];
    const combinations = versions.flatMap(({ nest, typeorm }) =>
      layouts.map(({ modules, resolution }) => [nest, typeorm, modules, resolution, ...works]),
    );
    const found = rows.filter((row) => versions.some(({ nest, typeorm }) => row[1] === nest && row[2] === typeorm));
    expect(found.map((row) => row.slice(1, -1))).toEqual(combinations);
  });

  it('the compatibility table has a column for each version of Node', () => {
    const head = rows.find(([, first]) => first === 'Nest')!;
    const tried = head.filter((cell) => cell.endsWith(', PostgreSQL')).map((cell) => cell.replace(', PostgreSQL', '.'));
    expect(tried.map((node, index) => node.startsWith(`${NODES[index]}.`))).toEqual(NODES.map(() => true));
  });

  it('the compatibility table reports that the commands of the README work on each Node line', () => {
    const clones = rows.filter(([, , sqlite]) => /^`(node:sqlite|better-sqlite3)`$/.test(sqlite ?? ''));
    const expected = NODE_LINES.map((line) => [line, line === '20' ? '`better-sqlite3`' : '`node:sqlite`', 'works']);
    expect(clones.map(([, node, sqlite, outcome]) => [node!.split('.')[0], sqlite, outcome])).toEqual(expected);
  });

  it.each(['10', '11', '12'] as const)('the README installs the packages that belong to Nest %s', (nest) => {
    const { '@nestjs/event-emitter': emitter, '@nestjs/typeorm': module } = dependenciesOf({ nest, typeorm: '1' });
    const packages = `@nestjs/event-emitter@${emitter} @nestjs/typeorm@${module} typeorm@${nest === '10' ? '0.3' : '1'} `;
    expect(readFileSync(join(ROOT, 'README.md'), 'utf8')).toContain(packages.replaceAll('^', ''));
  });

  it('the compatibility table covers the versions that peerDependencies allow', () => {
    const library = JSON.parse(readFileSync(join(ROOT, 'libs/auth/package.json'), 'utf8')) as {
      peerDependencies: Record<string, string>;
    };
    const majors = (range: string): string[] => [...range.matchAll(/\^(\d+)/g)].map(([, major]) => major!);
    const all = [...OLDER_VERSIONS, ...VERSIONS];
    const [nests, typeorms] = [all.map(({ nest }) => nest).sort(), all.map(({ typeorm }) => typeorm.split('.')[0])];
    expect(majors(library.peerDependencies['@nestjs/core']!)).toEqual([...new Set(nests)]);
    expect(majors(library.peerDependencies['typeorm']!)).toEqual([...new Set(typeorms)]);
    expect(library.peerDependencies['typeorm']).toContain(`^${OLDER_VERSIONS[0]!.typeorm} `);
  });
});
