import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const ALLOWED = ['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD'];

interface Manifest {
  readonly license: string;
  readonly scripts?: Record<string, string>;
  readonly dependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
  readonly peerDependenciesMeta?: Record<string, object>;
}

const read = (path: string): unknown => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
const library = read('libs/auth/package.json') as Manifest;
const { packages } = read('package-lock.json') as { packages: Record<string, Manifest> };

/** Returns the direct and indirect dependencies of a package, as npm installs them. */
function installed({ dependencies = {} }: Manifest): string[] {
  return Object.keys(dependencies).flatMap((name) => [name, ...installed(packages[`node_modules/${name}`]!)]);
}

describe('the dependencies of the library', () => {
  const names = installed(library);

  it('an application installs only cookie, bcrypt and the dependencies of bcrypt with the library', () => {
    expect(names.sort()).toEqual(['bcrypt', 'cookie', 'node-addon-api', 'node-gyp-build']);
  });

  it('the licenses of all dependencies are compatible with MIT, and ua-parser-js is the version without the AGPL', () => {
    for (const name of names) expect(ALLOWED).toContain(packages[`node_modules/${name}`]!.license);
    expect(packages['node_modules/ua-parser-js']).toMatchObject({ license: 'MIT' });
  });

  it('the ranges of dependencies other than TypeORM exclude versions with known vulnerabilities', () => {
    // class-validator 0.14 refuses unknown values. class-transformer 0.5.1 fixes prototype pollution.
    // ua-parser-js 1.0.33 fixes a regular expression denial of service. cookie 0.7 fixes injection through the name
    // of a cookie. docs/compatibility.md advises to upgrade TypeORM.
    expect(library.peerDependencies).toMatchObject({
      'class-validator': '^0.14.0 || ^0.15.0',
      'class-transformer': '^0.5.1',
      'ua-parser-js': '^1.0.41',
    });
    expect(library.dependencies).toEqual({ bcrypt: '^6.0.0', cookie: '^0.7.2' });
  });

  it('npm does not install the newest Nest and TypeORM packages with the library, which may not fit the application', () => {
    for (const name of ['@nestjs/event-emitter', '@nestjs/typeorm', 'typeorm']) {
      expect(library.peerDependencies).toHaveProperty([name]);
      expect(library.peerDependenciesMeta?.[name]).toEqual({ optional: true });
    }
  });

  it('the library runs no install script', () => {
    expect(library.scripts).toBeUndefined();
  });
});
