import { join } from 'node:path';
import ts from 'typescript';
import type { CodeBlock } from './code-blocks';
import { leadTo } from './lead-to';
import type { Surroundings } from './surroundings';

const ROOT = join(__dirname, '../..');
const SOURCES = join(ROOT, 'libs/auth/src');

const STRICT: ts.CompilerOptions = {
  ...ts.readConfigFile(join(ROOT, 'tsconfig.base.json'), (file) => ts.sys.readFile(file)).config.compilerOptions,
  // An excerpt names what it does not use.
  noUnusedLocals: false,
  noUnusedParameters: false,
  declaration: false,
  sourceMap: false,
  noEmit: true,
  jsx: ts.JsxEmit.Preserve,
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ES2022,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  paths: {
    'nestjs-session-auth': [join(SOURCES, 'index.ts')],
    'nestjs-session-auth/testing': [join(SOURCES, 'testing/index.ts')],
    'nestjs-session-auth-client': [join(ROOT, 'libs/client/src/index.ts')],
    'nestjs-session-auth/node-sqlite': [join(SOURCES, 'adapters/node-sqlite/index.ts')],
  },
};

/** Where code runs: what is there without an import. */
const PLACES = {
  node: { lib: ['lib.es2024.d.ts'], types: ['node'] },
  browser: { lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'], types: [] },
  test: { lib: ['lib.es2024.d.ts'], types: ['node', 'jest'] },
} satisfies Record<string, ts.CompilerOptions>;
export type Place = keyof typeof PLACES;

/**
 * Compiles blocks against the sources of the library, each as a module of its own behind what its document has said before
 * and what the reader has, and gives what is wrong: `<document>:<line>: <message>`.
 */
export function compileBlocks(
  blocks: readonly CodeBlock[],
  place: Place,
  surroundings: Readonly<Record<string, Surroundings>> = {},
): string[] {
  const modules = blocks.map((block, index) => {
    const before = blocks.slice(0, index).filter(({ file }) => file === block.file);
    const lead = leadTo(
      block.code,
      surroundings[block.file]?.declared ?? '',
      before.map(({ code }) => code),
    );
    const text = `${lead}\n${block.code}\nexport {};\n`;
    return {
      block,
      path: join(folderOf(block.file), `block-${index}.${block.language}`),
      text,
      leadLines: lead.split('\n').length,
    };
  });
  const files = new Map(modules.map(({ path, text }) => [path, text]));
  for (const [document, { modules: own = {} }] of Object.entries(surroundings)) {
    for (const [name, text] of Object.entries(own)) files.set(join(folderOf(document), `${name}.ts`), text);
  }
  const program = programOf(
    modules.map(({ path }) => path),
    { ...STRICT, ...PLACES[place] },
    files,
  );
  return modules.flatMap(({ block, path, leadLines }) => {
    const source = program.getSourceFile(path)!;
    const problems = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    return problems.map(({ start, messageText }) => {
      const line = source.getLineAndCharacterOfPosition(start ?? 0).line - leadLines + block.line;
      return `${block.file}:${line}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
    });
  });
}

/** A folder that is nowhere on the disk. */
const folderOf = (document: string): string => join(__dirname, 'blocks', document);

/** A program some of whose files are in memory alone. */
function programOf(roots: string[], options: ts.CompilerOptions, files: ReadonlyMap<string, string>): ts.Program {
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.directoryExists = () => true;
  host.fileExists = (file) => files.has(file) || fileExists(file);
  host.readFile = (file) => files.get(file) ?? readFile(file);
  host.getSourceFile = (file, language, ...rest) => {
    const text = files.get(file);
    return text === undefined ? getSourceFile(file, language, ...rest) : ts.createSourceFile(file, text, language);
  };
  return ts.createProgram(roots, options, host);
}
