import { join } from 'node:path';
import { ROOT, run } from './run';

/** A package as it would be published. */
export interface Packed {
  readonly tarball: string;
  /** The files in the package. */
  readonly files: readonly string[];
  /** The folder from which it was packed. */
  readonly folder: string;
}

/** Both packages. */
export interface PackedLibrary {
  readonly auth: Packed;
  readonly client: Packed;
}

/** Builds the library and its client outside the workspace, and packs them as they would be published. */
export function packLibrary(work: string): PackedLibrary {
  const folder = join(work, 'package');
  run('npx', ['tsc', '-p', 'libs/auth/tsconfig.lib.json', '--outDir', join(folder, 'auth/dist')], ROOT);
  run(process.execPath, ['scripts/build-client.mjs', join(folder, 'client/dist')], ROOT);
  run(process.execPath, ['scripts/build-docs.mjs', folder], ROOT);
  return { auth: pack('auth', folder), client: pack('client', folder) };
}

function pack(name: keyof PackedLibrary, parent: string): Packed {
  const folder = join(parent, name);
  for (const file of ['package.json', 'LICENSE']) {
    run('cp', [join(ROOT, 'libs', name, file), join(folder, file)], ROOT);
  }
  const [packed] = JSON.parse(run('npm', ['pack', '--json'], folder)) as [
    { filename: string; files: { path: string }[] },
  ];
  return { tarball: join(folder, packed.filename), files: packed.files.map(({ path }) => path), folder };
}
