import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(join(__dirname, '../../package.json'));

/**
 * A package of `bench/package.json`. Types and lint must not need it to be installed, so whoever loads one says the little of it
 * that is used.
 */
export function loadPeer<Used>(name: string): Used {
  return require(name) as Used;
}

/** Its version, or null where it is not installed. */
export function peerVersion(name: string): string | null {
  try {
    return (require(join(__dirname, '../../node_modules', name, 'package.json')) as { version: string }).version;
  } catch {
    return null;
  }
}
