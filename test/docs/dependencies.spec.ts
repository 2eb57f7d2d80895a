import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const LIBRARY = join(__dirname, '../../libs/auth/package.json');
const ALLOWED = ['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD'];

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly scripts?: Record<string, string>;
  readonly dependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
}

const read = (path: string): Manifest => JSON.parse(readFileSync(path, 'utf8')) as Manifest;

/** The manifest of a package as it is found from another one. */
function manifestOf(name: string, from: string): string {
  for (let folder = dirname(from); ; folder = dirname(folder)) {
    const path = join(folder, 'node_modules', name, 'package.json');
    try {
      readFileSync(path);
      return path;
    } catch {
      if (folder === dirname(folder)) throw new Error(`${name} is not installed`);
    }
  }
}

/** What a host installs with the library: its dependencies, and theirs. */
function installed(from: string, seen = new Map<string, Manifest>()): Map<string, Manifest> {
  for (const name of Object.keys(read(from).dependencies ?? {})) {
    const path = manifestOf(name, from);
    if (seen.has(name)) continue;
    seen.set(name, read(path));
    installed(path, seen);
  }
  return seen;
}

describe('what a host installs with the library', () => {
  const tree = installed(LIBRARY);

  it('is cookie, bcrypt and what bcrypt needs', () => {
    expect([...tree.keys()].sort()).toEqual(['bcrypt', 'cookie', 'node-addon-api', 'node-gyp-build']);
  });

  it('has licences that go with MIT', () => {
    for (const { license } of tree.values()) expect(ALLOWED).toContain(license);
  });

  it('never brings a User-Agent parser under the AGPL', () => {
    expect(read(LIBRARY).peerDependencies?.['ua-parser-js']).toMatch(/^\^1\./);
    expect(read(manifestOf('ua-parser-js', LIBRARY))).toMatchObject({ license: 'MIT' });
  });

  it('accepts no version from before the mending of a known weakness', () => {
    // class-validator 0.14: unknown values are refused. class-transformer 0.5.1: no prototype pollution. ua-parser-js 1.0.33: no
    // expression that takes forever. typeorm 0.3.29: no limit or order of a caller's making in an UPDATE.
    // cookie 0.7: no further cookie or attribute out of a name.
    expect(read(LIBRARY).peerDependencies).toMatchObject({
      'class-validator': '^0.14.0 || ^0.15.0',
      'class-transformer': '^0.5.1',
      'ua-parser-js': '^1.0.41',
      typeorm: '^0.3.29 || ^1.0.0',
    });
    expect(read(LIBRARY).dependencies).toEqual({ bcrypt: '^6.0.0', cookie: '^0.7.2' });
  });

  it('runs no script of the library at its installation', () => {
    expect(read(LIBRARY).scripts).toBeUndefined();
  });
});
