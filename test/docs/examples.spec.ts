import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { blocksOf } from './code-blocks';
import { EXAMPLES, FRONT_ENDS } from './examples';

const ROOT = join(__dirname, '../..');

const read = (file: string): Record<string, Record<string, string>> =>
  JSON.parse(readFileSync(file, 'utf8')) as Record<string, Record<string, string>>;

describe.each(EXAMPLES)('the example $name', ({ folder, guide }) => {
  const sources = readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.\w+$/.test(path))
    .map((path) => readFileSync(join(folder, 'src', path), 'utf8'));

  it('the TypeScript blocks of the guide are parts of the example', () => {
    const typescript = blocksOf(guide).filter(({ language }) => language === 'ts');
    expect(typescript.length).toBeGreaterThan(2);
    const missing = typescript.filter(({ code }) => !sources.some((source) => source.includes(code.trimEnd())));
    expect(missing).toEqual([]);
  });
});

describe.each([
  ...EXAMPLES.map(({ name }) => [name, 'nestjs-session-auth', 'file:../../libs/auth'] as const),
  ...FRONT_ENDS.map((name) => [name, 'nestjs-session-auth-client', 'file:../../libs/client'] as const),
])('the packages of the example %s', (name, own, source) => {
  const folder = join(ROOT, 'examples', name);

  it('the lockfile of the example contains no registry URL', () => {
    const resolved = readFileSync(join(folder, 'package-lock.json'), 'utf8').matchAll(/"resolved": "(.*)"/g);
    expect([...resolved].map(([, address]) => address)).toEqual([source]);
  });

  it('the example uses the same versions of packages as the repository', () => {
    const { devDependencies: repositoryVersions } = read(join(ROOT, 'package.json'));
    const { dependencies: exampleVersions } = read(join(folder, 'package.json'));
    const differing = Object.entries(exampleVersions!).filter(
      ([pkg, range]) => repositoryVersions![pkg] && repositoryVersions![pkg] !== range,
    );
    expect(differing).toEqual([]);
    expect(exampleVersions![own]).toBe(source);
  });
});
