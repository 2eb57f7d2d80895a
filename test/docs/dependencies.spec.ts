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

/** Returns the path of the `package.json` that a package name resolves to from another package. */
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

/** Returns the direct and indirect dependencies that an application installs with the library. */
function installed(from: string, seen = new Map<string, Manifest>()): Map<string, Manifest> {
  for (const name of Object.keys(read(from).dependencies ?? {})) {
    const path = manifestOf(name, from);
    if (seen.has(name)) continue;
    seen.set(name, read(path));
    installed(path, seen);
  }
  return seen;
}

describe('the dependencies of the library', () => {
  const tree = installed(LIBRARY);

  it('an application installs only cookie, bcrypt and the dependencies of bcrypt with the library', () => {
    expect([...tree.keys()].sort()).toEqual(['bcrypt', 'cookie', 'node-addon-api', 'node-gyp-build']);
  });

  it('the licenses of all dependencies are compatible with MIT, and ua-parser-js is the version without the AGPL', () => {
    for (const { license } of tree.values()) expect(ALLOWED).toContain(license);
    expect(read(manifestOf('ua-parser-js', LIBRARY))).toMatchObject({ license: 'MIT' });
  });

  it('the ranges of dependencies other than TypeORM exclude versions with known vulnerabilities', () => {
    // class-validator 0.14 refuses unknown values. class-transformer 0.5.1 fixes prototype pollution.
    // ua-parser-js 1.0.33 fixes a regular expression denial of service. cookie 0.7 fixes injection through the name
    // of a cookie. docs/compatibility.md advises to upgrade TypeORM.
    expect(read(LIBRARY).peerDependencies).toMatchObject({
      'class-validator': '^0.14.0 || ^0.15.0',
      'class-transformer': '^0.5.1',
      'ua-parser-js': '^1.0.41',
    });
    expect(read(LIBRARY).dependencies).toEqual({ bcrypt: '^6.0.0', cookie: '^0.7.2' });
  });

  it('the library runs no install script', () => {
    expect(read(LIBRARY).scripts).toBeUndefined();
  });
});
