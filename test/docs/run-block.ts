import ts from 'typescript';
import type { CodeBlock } from './code-blocks';

/** What a block of a document finds where it runs. */
export interface BlockSurroundings {
  /** What its imports load, by their names. All others load what is installed. */
  readonly modules?: Readonly<Record<string, unknown>>;
  /** Texts of the block and what is written in their place, such as the address of a server. Each must be there. */
  readonly replaced?: Readonly<Record<string, string>>;
}

/** Runs a block as a module, and returns what it exports. */
export function runBlock<T>(block: CodeBlock, { modules = {}, replaced = {} }: BlockSurroundings = {}): T {
  let { code } = block;
  for (const [text, replacement] of Object.entries(replaced)) {
    if (!code.includes(text)) throw new Error(`${block.file}:${block.line}: there is no ${text}`);
    code = code.replaceAll(text, replacement);
  }
  const { outputText } = ts.transpileModule(code, {
    fileName: `${block.file}:${block.line}.ts`,
    compilerOptions: {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.CommonJS,
      esModuleInterop: true,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
    },
  });
  const exported = {};
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- Jest resolves it as for an import
  const load = (name: string): unknown => (name in modules ? modules[name] : require(name));
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the documents are the code under test
  new Function('exports', 'require', outputText)(exported, load);
  return exported as T;
}
