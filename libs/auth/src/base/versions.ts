import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The part of a package.json that the check reads. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const LIBRARY = 'nestjs-session-auth';
const CHECKED = ['@nestjs/core', '@nestjs/event-emitter', '@nestjs/typeorm', 'typeorm'];

/**
 * Returns a sentence for each installed package whose version is outside the library's `peerDependencies`. A package
 * whose version cannot be read, for example because it is bundled, is skipped.
 */
export function unsupportedVersions(manifestOf: (name: string) => Manifest | null = readManifest): string[] {
  const ranges = manifestOf(LIBRARY)?.peerDependencies ?? {};
  return CHECKED.flatMap((name) => {
    const range = ranges[name];
    const version = range && manifestOf(name)?.version;
    if (!version || range.split(' || ').some((part) => isCompatible(version, part))) return [];
    return [`${name} ${version} is not supported. Install a version in the range ${range}.`];
  });
}

/** @param range a caret range, such as `^0.3.20`. Prereleases count as their release */
function isCompatible(version: string, range: string): boolean {
  const [actual, least] = [numbersOf(version), numbersOf(range)];
  const fixed = least[0] === 0 ? 2 : 1;
  const differing = least.findIndex((number, index) => number !== actual[index]);
  return differing === -1 || (differing >= fixed && actual[differing]! > least[differing]!);
}

function numbersOf(version: string): number[] {
  return version.match(/\d+/g)!.slice(0, 3).map(Number);
}

/**
 * Returns the package.json of an installed package, or null if it cannot be read. `require('typeorm/package.json')`
 * would fail, because TypeORM does not export the file.
 */
export function readManifest(name: string): Manifest | null {
  try {
    let folder = dirname(name === LIBRARY ? __filename : createRequire(__filename).resolve(name));
    for (; folder !== dirname(folder); folder = dirname(folder)) {
      const path = join(folder, 'package.json');
      const manifest = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Manifest) : null;
      if (manifest?.name === name) return manifest;
    }
  } catch {
    // The package is not installed, or the library is part of a bundle.
  }
  return null;
}
