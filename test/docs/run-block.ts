import type { Type } from '@nestjs/common';
import ts from 'typescript';
import { blocksUnder, type CodeBlock } from './code-blocks';

export interface BlockContext {
  /** Modules that replace installed modules, by name. */
  readonly modules?: Readonly<Record<string, unknown>>;
  /** Replacements of texts in the block, such as the URL of a server. The block must contain each text. */
  readonly replaced?: Readonly<Record<string, string>>;
}

export function runBlock<T>(block: CodeBlock, { modules = {}, replaced = {} }: BlockContext = {}): T {
  let { code } = block;
  for (const [text, replacement] of Object.entries(replaced)) {
    if (!code.includes(text)) throw new Error(`${block.file}:${block.line}: the block does not contain ${text}`);
    code = code.replaceAll(text, replacement);
  }
  const { outputText } = ts.transpileModule(code, {
    fileName: `${block.file}:${block.line}.${block.language}`,
    compilerOptions: {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.CommonJS,
      jsx: ts.JsxEmit.ReactJSX,
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

/** Returns a function that runs a code block of a page, by default the first one under a heading. */
export const codeOf =
  (page: string) =>
  <T = Record<string, Type>>(heading: string, context?: BlockContext, index = 0): T =>
    runBlock<T>(blocksUnder(page, heading)[index]!, context);
