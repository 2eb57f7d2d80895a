import { minifySync } from '@swc/core';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import ts from 'typescript';

const FOLDER = join(__dirname, '../../libs/client');
const { config } = ts.readConfigFile(join(FOLDER, 'tsconfig.lib.json'), (file) => ts.sys.readFile(file)) as {
  config: { compilerOptions: { useDefineForClassFields: boolean } };
};

/** Concatenates the modules, as a bundler does. No two modules declare the same name. */
function bundle(): string {
  const modules = readdirSync(join(FOLDER, 'src')).filter((name) => !['index.ts', 'ssr.ts'].includes(name));
  const compilerOptions = {
    useDefineForClassFields: config.compilerOptions.useDefineForClassFields,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ES2022,
    removeComments: true,
  };
  const code = modules.map((name) => {
    const source = readFileSync(join(FOLDER, 'src', name), 'utf8');
    const { outputText } = ts.transpileModule(source, { compilerOptions });
    return outputText.replace(/^import [^;]*;$/gm, '').replace(/^export (?!\{)/gm, '');
  });
  return `${code.join('\n')}\nexport { AuthClient, ClientError, localTokens, memoryTokens, sessionTokens };`;
}

it('the client adds at most 7.5 kB to a page, minified and gzipped', () => {
  const { code } = minifySync(bundle(), {
    module: true,
    compress: { passes: 3 },
    mangle: { toplevel: true },
    format: { comments: false },
  });
  const { length } = gzipSync(code, { level: 9 });
  expect(length).toBeGreaterThan(3_000);
  // Rounded, as the guide says it.
  expect(length).toBeLessThan(7_550);
});
