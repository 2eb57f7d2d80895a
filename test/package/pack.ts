import { join } from 'node:path';
import { ROOT, run } from './run';

export interface PackedLibrary {
  readonly tarball: string;
  /** The files in it. */
  readonly files: readonly string[];
}

/** Builds the library outside the workspace, and packs it as it would be published. */
export function packLibrary(work: string): PackedLibrary {
  const folder = join(work, 'package');
  run('npx', ['tsc', '-p', 'libs/auth/tsconfig.lib.json', '--outDir', join(folder, 'dist')], ROOT);
  run(process.execPath, ['scripts/build-client.mjs', join(folder, 'dist')], ROOT);
  run(process.execPath, ['scripts/build-docs.mjs', folder], ROOT);
  for (const file of ['package.json', 'LICENSE']) {
    run('cp', [join(ROOT, 'libs/auth', file), join(folder, file)], ROOT);
  }
  const [packed] = JSON.parse(run('npm', ['pack', '--json'], folder)) as [
    { filename: string; files: { path: string }[] },
  ];
  return { tarball: join(folder, packed.filename), files: packed.files.map(({ path }) => path) };
}
