import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(join(__dirname, '../../package.json'));

/**
 * Loads a package of `bench/package.json`. Callers declare the types of the package, because the type check also
 * runs when the package is not installed.
 */
export function loadPeer<Used>(name: string): Used {
  return require(name) as Used;
}

/** Returns the version of a package, or null if it is not installed. */
export function peerVersion(name: string): string | null {
  try {
    return (require(join(__dirname, '../../node_modules', name, 'package.json')) as { version: string }).version;
  } catch {
    return null;
  }
}
