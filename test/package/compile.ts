import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Installation } from './installation';
import { runTsc } from './run-tsc';
import { compilerOptionsOf, type Layout } from './settings';

/** Folders with the sources of an application. */
export type ApplicationSources = 'application' | 'own-users';

/** Common compiler settings for ESM. Only the types are checked, because the emitted code is the same. */
const BUNDLER = ['--module', 'es2022', '--moduleResolution', 'bundler'];

export interface CompiledApplication {
  /** The path of its main.js. */
  readonly entry: string;
  /** The versions of TypeScript that accept the types. */
  readonly compilers: readonly string[];
  /** Other packages whose declarations contain errors. */
  readonly faulty: readonly string[];
}

/**
 * Compiles the application in its layout, and checks its types with the newest TypeScript as well.
 *
 * @throws if the application's code or the library's declarations contain an error
 */
export function compileApplication(
  installation: Installation,
  layout: Layout,
  sources: ApplicationSources = 'application',
): CompiledApplication {
  const folder = writeSources(installation, layout, sources);
  const faulty = new Set(runTsc(installation, 'typescript', folder));
  const compilers = [installation.versionOf('typescript')];
  // TypeScript 7 does not support node10.
  if (layout.resolution !== 'node10') {
    for (const flags of [[], ...(layout.modules === 'ESM' ? [BUNDLER] : [])]) {
      for (const name of runTsc(installation, 'newest-typescript', folder, ['--noEmit', ...flags])) faulty.add(name);
    }
    compilers.push(installation.versionOf('newest-typescript'));
  }
  return { entry: join(folder, 'dist/main.js'), compilers, faulty: [...faulty].sort() };
}

function writeSources(installation: Installation, layout: Layout, sources: ApplicationSources): string {
  const folder = join(installation.folder, `${sources}-${layout.modules}-${layout.resolution}`);
  const from = join(__dirname, sources);
  mkdirSync(join(folder, 'src'), { recursive: true });
  for (const file of readdirSync(from).filter((name) => name.endsWith('.ts'))) {
    cpSync(join(from, file), join(folder, 'src', file));
  }
  const type = layout.modules === 'ESM' ? 'module' : 'commonjs';
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'fresh-application', private: true, type }));
  const compilerOptions = compilerOptionsOf(layout, installation.versionOf('typescript'));
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }));
  return folder;
}
