import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { blocksOf, documents, type CodeBlock } from './code-blocks';
import { compileBlocks } from './compile-blocks';
import { isCompiledByExample } from './examples';
import { CONTEXTS } from './document-contexts';

const ROOT = join(__dirname, '../..');
const blocks = documents().flatMap((file) => blocksOf(file));
const blocksIn = (language: string): CodeBlock[] => blocks.filter((block) => block.language === language);
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

const IN_BROWSERS = ['docs/client.md', 'docs/client-libraries.md', 'docs/client-frameworks.md'];
const environmentOf = ({ file }: CodeBlock) => (IN_BROWSERS.includes(file) ? 'browser' : 'node');

const commands = blocksIn('sh').flatMap(({ file, line, code }) => {
  const lines = code.split('\n').map((text) => text.split(' #')[0]!.trim());
  return lines.map((command, index) => ({ where: `${file}:${line + index}`, command }));
});

describe('the code blocks of the documents', () => {
  it('every code block has a known language', () => {
    // test/database/partitions.spec.ts and test/docs/message-brokers.spec.ts run the SQL blocks.
    const isSql = ({ file, language }: CodeBlock): boolean =>
      language === 'sql' && ['docs/scaling.md', 'docs/microservices.md'].includes(file);
    const known = ['ts', 'tsx', 'js', 'sh', 'html', 'json', 'text', 'mermaid'];
    const others = blocks.filter((block) => !known.includes(block.language) && !isSql(block));
    expect(others.map(({ file, line, language }) => `${file}:${line}: ${language}`)).toEqual([]);
    expect(blocksIn('ts').length).toBeGreaterThan(20);
  });

  it.each(documents())('every code block of %s is found', (file) => {
    const fences = readFileSync(join(ROOT, file), 'utf8').match(/^ *(```|~~~)/gm) ?? [];
    expect(fences).toHaveLength(2 * blocks.filter((block) => block.file === file).length);
  });

  it.each(['node', 'browser'] as const)(
    'the code blocks compile against the library in strict mode in the environment %s',
    (environment) => {
      const compiledHere = blocks.filter(({ file, language }) => /^tsx?$/.test(language) && !isCompiledByExample(file));
      const here = compiledHere.filter((block) => environmentOf(block) === environment);
      expect(here).not.toEqual([]);
      expect(compileBlocks(here, environment, CONTEXTS)).toEqual([]);
    },
    120_000,
  );

  it('a code block with a wrong name, option or argument type, or with a missing import, does not compile', () => {
    const imports = "import { AuthModule } from 'nestjs-session-auth';\nAuthModule.forRoot({ sesionPolicy: 'multi' });";
    const wrong = "import { AuthServce } from 'nestjs-session-auth';\n  AuthModule.forRoot({ maxSessions: '9' });";
    const document = `\`\`\`ts\n${imports}\n\`\`\`\n- in a list:\n  \`\`\`ts\n  ${wrong}\n  new AuthService();\n  \`\`\``;
    expect(compileBlocks(blocksOf('wrong.md', document), 'node')).toEqual([
      expect.stringMatching(/^wrong\.md:3: .*'sesionPolicy'/),
      expect.stringMatching(/^wrong\.md:7: .*'AuthServce'/),
      expect.stringMatching(/^wrong\.md:8: .*'string' is not assignable to type 'number'/),
      expect.stringMatching(/^wrong\.md:9: Cannot find name 'AuthService'/),
    ]);
  }, 120_000);

  it('relative imports in code blocks have the extension .js, which ES modules require', () => {
    const imports = blocksIn('ts').flatMap(({ file, line, code }) =>
      [...code.matchAll(/from '(\.[^']*)'/g)].map(([, path]) => ({ where: `${file}:${line}`, path: path! })),
    );
    expect(imports.length).toBeGreaterThan(5);
    expect(imports.filter(({ path }) => !path.endsWith('.js'))).toEqual([]);
  });

  it('every npm script that a document names exists', () => {
    const run = commands.flatMap(({ where, command }) => {
      const found = [...command.matchAll(/\bnpm (?:run ([\w:-]+)|(test|start)\b)/g)];
      return found.map(([, script, short]) => ({ where, script: script ?? short! }));
    });
    expect(run.length).toBeGreaterThan(5);
    expect(run.filter(({ script }) => !manifest.scripts[script])).toEqual([]);
  });

  it('every package that a document installs is installed in the repository, so that the tests use it', () => {
    const listed = commands.filter(({ where }) => !isCompiledByExample(where.split(':')[0]!));
    const installed = listed.flatMap(({ where, command }) => {
      const [, list = ''] = /^npm install (.*)/.exec(command) ?? [];
      const names = list.split(' ').filter((name) => /^[^-]/.test(name));
      return names.map((name) => ({ where, name: name.replace(/(?<=.)@.*/, '') }));
    });
    expect(installed.length).toBeGreaterThan(5);
    expect(installed.filter(({ name }) => !existsSync(join(ROOT, 'node_modules', name)))).toEqual([]);
  });

  it('JSON and JavaScript blocks have valid syntax', () => {
    for (const { code } of blocksIn('json')) expect(() => JSON.parse(code) as unknown).not.toThrow();
    for (const { code } of blocksIn('js')) expect(() => new Script(code)).not.toThrow();
  });
});
