import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as library from 'nestjs-session-auth/client';
import ts from 'typescript';

const ROOT = join(__dirname, '../..');
const SOURCES = join(ROOT, 'libs/auth/src/client');
const guide = readFileSync(join(ROOT, 'docs/client.md'), 'utf8');

/** What the first cells of the table under a heading name. */
function named(heading: string): string[] {
  const section = guide.split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!;
  const cells = section.split('\n').flatMap((line) => /^\| (`[^|]*) \|/.exec(line)?.[1] ?? []);
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)/g)].map(([, name]) => name!));
}

function words(file: string, from: string, pattern: RegExp): string[] {
  const [, rest] = readFileSync(join(SOURCES, file), 'utf8').split(from);
  return [...rest!.split(/\n}|;\n\n/)[0]!.matchAll(pattern)].map(([, word]) => word!);
}

describe('the guide of the client', () => {
  it('lists the events that there are', () => {
    expect(named('Events')).toEqual(words('events.ts', 'interface ClientEvents {', /^ {2}(\w+):/gm));
  });

  it('lists the codes that there are', () => {
    const codes = words('errors.ts', 'type ClientErrorCode =', /^ {2}\| '(\w+)'/gm);
    expect(codes).toHaveLength(15);
    expect(named('Errors')).toEqual(codes);
  });

  it('lists the options that there are', () => {
    const options = words('assemble.ts', 'interface AuthClientOptions {', /^ {2}readonly (\w+)\?:/gm);
    expect(named('Options')).toEqual(options);
  });

  it('lists the methods that there are', () => {
    const methods = Object.getOwnPropertyNames(library.AuthClient.prototype);
    const own = methods.filter((name) => !['constructor', 'call', 'ending', 'over', 'forget'].includes(name));
    expect(named('What it does').sort()).toEqual(own.sort());
  });

  it('shows code that compiles, with the types of a browser', () => {
    const blocks = [...guide.matchAll(/```ts\n([^]*?)```/g)].map(([, code]) => code!);
    expect(blocks).toHaveLength(2);
    const files = new Map(blocks.map((code, i) => [join(SOURCES, `guide-${i}.ts`), code]));
    const options: ts.CompilerOptions = {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ES2022,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
      types: [],
      paths: { 'nestjs-session-auth/client': [SOURCES] },
    };
    const host = ts.createCompilerHost(options);
    const { fileExists, readFile, getSourceFile } = host;
    host.fileExists = (file) => files.has(file) || fileExists(file);
    host.readFile = (file) => files.get(file) ?? readFile(file);
    host.getSourceFile = (file, language, ...rest) => {
      const code = files.get(file);
      return code === undefined ? getSourceFile(file, language, ...rest) : ts.createSourceFile(file, code, language);
    };
    const problems = ts.getPreEmitDiagnostics(ts.createProgram([...files.keys()], options, host));
    expect(problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([]);
  });
});

it('the client exports these names and no others', () => {
  expect(Object.keys(library).sort()).toEqual([
    'AuthClient',
    'ClientError',
    'localTokens',
    'memoryTokens',
    'sessionTokens',
  ]);
});
