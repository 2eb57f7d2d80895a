import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(join(__dirname, '../../package.json'));

/**
 * Loads a package of `bench/package.json`. Type checks and lint run without it installed, so callers declare the types
 * they use.
 */
export function loadPeer<Used>(name: string): Used {
  return require(name) as Used;
}

/** Returns its version, or null if it is not installed. */
export function peerVersion(name: string): string | null {
  try {
    return (require(join(__dirname, '../../node_modules', name, 'package.json')) as { version: string }).version;
  } catch {
    return null;
  }
}
