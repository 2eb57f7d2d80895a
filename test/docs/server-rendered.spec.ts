import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { blocksOf } from './code-blocks';

const EXAMPLE = join(__dirname, '../../examples/server-rendered');
const files = readdirSync(join(EXAMPLE, 'src')).map((name) => readFileSync(join(EXAMPLE, 'src', name), 'utf8'));

describe('the guide to server-rendered pages', () => {
  it('shows files of the example, as they are', () => {
    const blocks = blocksOf('docs/server-rendered-pages.md').map(({ code }) => code);
    expect(blocks.length).toBeGreaterThan(3);
    for (const code of blocks) expect(files).toContain(code);
  });
});

describe('the server-rendered example', () => {
  it('has at most 200 lines', () => {
    expect(files.join('').split('\n').length - 1).toBeLessThanOrEqual(200);
  });

  it('locks no address of a registry', () => {
    const { packages } = JSON.parse(readFileSync(join(EXAMPLE, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { resolved?: string }>;
    };
    const resolved = Object.values(packages).flatMap(({ resolved: address }) => address ?? []);
    expect(resolved).toEqual(['file:../../libs/auth']);
  });

  it('has the versions that the repository has', () => {
    const read = (file: string): Record<string, Record<string, string>> =>
      JSON.parse(readFileSync(file, 'utf8')) as Record<string, Record<string, string>>;
    const { devDependencies: ours } = read(join(EXAMPLE, '../../package.json'));
    const { dependencies: theirs } = read(join(EXAMPLE, 'package.json'));
    const differing = Object.entries(theirs!).filter(([name, range]) => ours![name] !== range);
    expect(differing).toEqual([['nestjs-session-auth', 'file:../../libs/auth']]);
  });
});
