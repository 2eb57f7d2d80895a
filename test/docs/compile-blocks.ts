import { join } from 'node:path';
import ts from 'typescript';
import type { CodeBlock } from './code-blocks';
import { preambleOf } from './block-preamble';
import type { DocumentContext } from './document-contexts';

const ROOT = join(__dirname, '../..');
const SOURCES = join(ROOT, 'libs/auth/src');

const STRICT: ts.CompilerOptions = {
  ...ts.readConfigFile(join(ROOT, 'tsconfig.base.json'), (file) => ts.sys.readFile(file)).config.compilerOptions,
  // An excerpt may declare names that it does not use.
  noUnusedLocals: false,
  noUnusedParameters: false,
  noImplicitReturns: true,
  declaration: false,
  sourceMap: false,
  noEmit: true,
  jsx: ts.JsxEmit.ReactJSX,
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ES2022,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  paths: {
    'nestjs-session-auth': [join(SOURCES, 'index.ts')],
    'nestjs-session-auth/testing': [join(SOURCES, 'testing/index.ts')],
    'nestjs-session-auth-client': [join(ROOT, 'libs/client/src/index.ts')],
    'nestjs-session-auth-client/*': [join(ROOT, 'libs/client/src/*.ts')],
    'nestjs-session-auth/node-sqlite': [join(SOURCES, 'node-sqlite/index.ts')],
  },
};

/** The globals that code has without an import, by its environment. */
const ENVIRONMENTS = {
  // The types of Jest are for docs/testing.md.
  node: { lib: ['lib.es2024.d.ts'], types: ['node', 'jest'] },
  browser: { lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'], types: [] },
} satisfies Record<string, ts.CompilerOptions>;

/** Matches an import of a module that may be another block of the document. */
const IMPORT_OF_BLOCK = /^ *import (?:type )?\{ (?:type )?(\w+)[^}]*\} from '(\.[^']*)\.js'/gm;

/**
 * Compiles blocks against the sources of the library. Each block is a separate module that starts with the imports of
 * earlier blocks and the context of its document. It can import the blocks of its document. Returns errors as `<document>:<line>: <message>`.
 */
export function compileBlocks(
  blocks: readonly CodeBlock[],
  environment: keyof typeof ENVIRONMENTS,
  contexts: Readonly<Record<string, DocumentContext>> = {},
): string[] {
  const modules = blocks.map((block, index) => {
    const earlier = blocks.slice(0, index).filter(({ file }) => file === block.file);
    const context = contexts[block.file]?.declared ?? '';
    const preamble = preambleOf(block.code, context, earlier);
    const path = join(folderOf(block.file), `block-${index}.${block.language}`);
    const text = `${preamble}\n${block.code}\nexport {};\n`;
    return { block, path, text, preambleLines: preamble.split('\n').length };
  });
  const files = new Map(modules.map(({ path, text }) => [path, text]));
  for (const { file, code } of blocks) {
    files.set(join(folderOf(file), 'app.module.ts'), 'export class AppModule {}');
    for (const [, name, path] of code.matchAll(IMPORT_OF_BLOCK)) {
      const isDeclaration = new RegExp(`^export .*\\b${name}\\b`, 'm');
      const found = modules.find(({ block }) => block.file === file && isDeclaration.test(block.code));
      if (found) files.set(join(folderOf(file), `${path}.ts`), found.text);
    }
  }
  for (const [document, { modules: own = {} }] of Object.entries(contexts)) {
    for (const [name, text] of Object.entries(own)) files.set(join(folderOf(document), `${name}.ts`), text);
  }
  const roots = modules.map(({ path }) => path);
  const program = programOf(roots, { ...STRICT, ...ENVIRONMENTS[environment] }, files);
  return modules.flatMap(({ block, path, preambleLines }) => {
    const source = program.getSourceFile(path)!;
    const problems = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    return problems.map(({ start, messageText }) => {
      const line = source.getLineAndCharacterOfPosition(start ?? 0).line - preambleLines + block.line;
      return `${block.file}:${line}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
    });
  });
}

/** Returns the path of a document's folder, which does not exist on disk. */
const folderOf = (document: string): string => join(__dirname, 'blocks', document);

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
