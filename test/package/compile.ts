import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Installation } from './installation';
import { compilerOptionsOf, type Layout } from './settings';

const HOST = join(__dirname, 'host');

export interface CompiledHost {
  /** Its main.js. */
  readonly entry: string;
  /** The packages whose own declarations do not compile. Theirs to mend; a host has `skipLibCheck` for them. */
  readonly faulty: readonly string[];
}

/**
 * Compiles the host in its layout, with all declarations checked.
 * @throws where an error stands in the host's code or in the library's declarations
 */
export function compileHost(installation: Installation, layout: Layout): CompiledHost {
  const folder = join(installation.folder, `${layout.modules}-${layout.resolution}`);
  mkdirSync(join(folder, 'src'), { recursive: true });
  for (const file of readdirSync(HOST).filter((name) => name.endsWith('.ts'))) {
    cpSync(join(HOST, file), join(folder, 'src', file));
  }
  const type = layout.modules === 'ESM' ? 'module' : 'commonjs';
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'fresh-host', private: true, type }));
  const compilerOptions = compilerOptionsOf(layout, installation.versionOf('typescript'));
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }));

  const tsc = join(installation.folder, 'node_modules/typescript/bin/tsc');
  const { stdout, stderr } = spawnSync(process.execPath, [tsc, '-p', folder, '--pretty', 'false'], {
    cwd: folder,
    encoding: 'utf8',
  });
  const errors = stdout.split('\n').filter((line) => /\berror TS\d+/.test(line));
  const ours = errors.filter((error) => !packageOf(error));
  if (ours.length > 0 || stderr) throw new Error(`The host does not compile:\n${ours.join('\n')}${stderr}`);
  return { entry: join(folder, 'dist/main.js'), faulty: [...new Set(errors.map((error) => packageOf(error)!))].sort() };
}

/** The package in whose declarations an error stands, unless it is the library. */
function packageOf(error: string): string | undefined {
  const path = error.split('(')[0]!;
  const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
  return name === 'nestjs-session-auth' ? undefined : name;
}
