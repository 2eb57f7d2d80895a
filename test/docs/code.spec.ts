import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { blocksOf, documents, type CodeBlock } from './code-blocks';
import { compileBlocks, type Place } from './compile-blocks';
import { SURROUNDINGS } from './surroundings';

const ROOT = join(__dirname, '../..');
const blocks = documents().flatMap((file) => blocksOf(file));
const written = (language: string): CodeBlock[] => blocks.filter((block) => block.language === language);
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

const PLACES: Readonly<Record<string, Place>> = { 'docs/client.md': 'browser', 'docs/testing.md': 'test' };
const placeOf = ({ file }: CodeBlock): Place => PLACES[file] ?? 'node';

/** The lines of all blocks for a shell, with where they stand. */
const commands = written('sh').flatMap(({ file, line, code }) =>
  code
    .split('\n')
    .map((command, index) => ({ where: `${file}:${line + index}`, command: command.split(' #')[0]!.trim() })),
);

describe('the code in the documents', () => {
  it('is in a language that is looked at here', () => {
    // What is in SQL is run by test/store/partitions.spec.ts.
    const isSql = ({ file, language }: CodeBlock): boolean => language === 'sql' && file === 'docs/scaling.md';
    const others = blocks.filter(
      (block) => !['ts', 'tsx', 'js', 'sh', 'json', 'text', 'mermaid'].includes(block.language) && !isSql(block),
    );
    expect(others.map(({ file, line, language }) => `${file}:${line}: ${language}`)).toEqual([]);
    expect(written('ts').length).toBeGreaterThan(20);
  });

  it.each(documents())('is found in %s, every fence of it', (file) => {
    const fences = readFileSync(join(ROOT, file), 'utf8').match(/^ *(```|~~~)/gm) ?? [];
    expect(fences).toHaveLength(2 * blocks.filter((block) => block.file === file).length);
  });

  it.each(['node', 'browser', 'test'] as const)(
    'compiles against the library, strictly, for what runs in: %s',
    (place) => {
      const here = blocks.filter((block) => /^tsx?$/.test(block.language) && placeOf(block) === place);
      expect(here).not.toEqual([]);
      expect(compileBlocks(here, place, SURROUNDINGS)).toEqual([]);
    },
    120_000,
  );

  it('would not compile with a wrong name, option, type of an argument, or without an import', () => {
    const wrong = [
      '```ts',
      "import { AuthModule } from 'nestjs-session-auth';",
      "AuthModule.forRoot({ sesionPolicy: 'multi' });",
      '```',
      '- in a list:',
      '  ```ts',
      "  import { AuthServce } from 'nestjs-session-auth';",
      "  AuthModule.forRoot({ accessTokenTtlSeconds: '900' });",
      "  await new AuthService().login('alice');",
      '  ```',
    ].join('\n');
    expect(compileBlocks(blocksOf('wrong.md', wrong), 'node')).toEqual([
      expect.stringMatching(/^wrong\.md:3: .*'sesionPolicy'/),
      expect.stringMatching(/^wrong\.md:7: .*'AuthServce'/),
      expect.stringMatching(/^wrong\.md:8: .*'string' is not assignable to type 'number'/),
      expect.stringMatching(/^wrong\.md:9: Cannot find name 'AuthService'/),
    ]);
  }, 120_000);

  it('names the files that relative imports load, as ES modules need', () => {
    const imports = written('ts').flatMap(({ file, line, code }) =>
      [...code.matchAll(/from '(\.[^']*)'/g)].map(([, path]) => ({ where: `${file}:${line}`, path: path! })),
    );
    expect(imports.length).toBeGreaterThan(5);
    expect(imports.filter(({ path }) => !path.endsWith('.js'))).toEqual([]);
  });

  it('names scripts that there are', () => {
    const run = commands.flatMap(({ where, command }) =>
      [...command.matchAll(/\bnpm (?:run ([\w:-]+)|(test|start)\b)/g)].map(([, script, short]) => ({
        where,
        script: script ?? short!,
      })),
    );
    expect(run.length).toBeGreaterThan(5);
    expect(run.filter(({ script }) => !manifest.scripts[script])).toEqual([]);
  });

  it('installs packages that the workspace has, so that each was seen to work', () => {
    const installed = commands.flatMap(({ where, command }) => {
      const names = /^npm install (.*)/.exec(command)?.[1]!.split(' ') ?? [];
      return names
        .filter((name) => !name.startsWith('-'))
        .map((name) => ({ where, name: name.replace(/(?<=.)@.*/, '') }));
    });
    expect(installed.length).toBeGreaterThan(5);
    expect(installed.filter(({ name }) => !existsSync(join(ROOT, 'node_modules', name)))).toEqual([]);
  });

  it('is JSON, or JavaScript, where it says so', () => {
    for (const { code } of written('json')) expect(() => JSON.parse(code) as unknown).not.toThrow();
    for (const { code } of written('js')) expect(() => new Script(code)).not.toThrow();
  });
});
