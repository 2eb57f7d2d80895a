import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Installation } from './installation';
import { runTsc } from './run-tsc';
import { compilerOptionsOf, type Layout } from './settings';

/** The folders with the sources of hosts. */
export type HostSources = 'host' | 'own-users';

/** ESM is often compiled with these settings; what is emitted is the same. */
const BUNDLER = ['--module', 'es2022', '--moduleResolution', 'bundler'];

export interface CompiledHost {
  /** Its main.js. */
  readonly entry: string;
  /** The versions of TypeScript that found the types sound. */
  readonly compilers: readonly string[];
  /** The packages of others whose declarations have errors. */
  readonly faulty: readonly string[];
}

/**
 * Compiles the host in its layout, and checks its types with the newest TypeScript as well.
 * @throws where an error stands in the host's code or in the library's declarations
 */
export function compileHost(installation: Installation, layout: Layout, sources: HostSources = 'host'): CompiledHost {
  const folder = writeSources(installation, layout, sources);
  const faulty = new Set(runTsc(installation, 'typescript', folder));
  const compilers = [installation.versionOf('typescript')];
  // TypeScript 7 knows node10 no more.
  if (layout.resolution !== 'node10') {
    for (const flags of [[], ...(layout.modules === 'ESM' ? [BUNDLER] : [])]) {
      for (const name of runTsc(installation, 'newest-typescript', folder, ['--noEmit', ...flags])) faulty.add(name);
    }
    compilers.push(installation.versionOf('newest-typescript'));
  }
  return { entry: join(folder, 'dist/main.js'), compilers, faulty: [...faulty].sort() };
}

function writeSources(installation: Installation, layout: Layout, sources: HostSources): string {
  const folder = join(installation.folder, `${sources}-${layout.modules}-${layout.resolution}`);
  const from = join(__dirname, sources);
  mkdirSync(join(folder, 'src'), { recursive: true });
  for (const file of readdirSync(from).filter((name) => name.endsWith('.ts'))) {
    cpSync(join(from, file), join(folder, 'src', file));
  }
  const type = layout.modules === 'ESM' ? 'module' : 'commonjs';
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'fresh-host', private: true, type }));
  const compilerOptions = compilerOptionsOf(layout, installation.versionOf('typescript'));
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }));
  return folder;
}
