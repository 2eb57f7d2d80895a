import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SQLITE_DRIVER } from '../support/sqlite';
import type { PackedLibrary } from './pack';
import { run } from './run';
import { dependenciesOf, type Versions } from './settings';

const SHOWN = ['@nestjs/core', '@nestjs/event-emitter', '@nestjs/typeorm', 'typeorm', 'class-validator', 'typescript'];

/** A folder in which the packed library, its client and their peers are installed, as in an application. */
export class Installation {
  constructor(
    readonly folder: string,
    readonly versions: Versions,
  ) {}

  /** Creates an installation. npm resolves every version again, and checks the peer dependencies. */
  static make(work: string, versions: Versions, { auth, client }: PackedLibrary): Installation {
    const folder = join(work, `nest-${versions.nest}-typeorm-${versions.typeorm}`);
    mkdirSync(folder);
    // Native modules were compiled for the workspace. The build itself is not tested here.
    const driver = SQLITE_DRIVER === 'better-sqlite3' ? dirname(require.resolve('better-sqlite3/package.json')) : null;
    const dependencies = {
      ...dependenciesOf(versions),
      ...(driver ? { 'better-sqlite3': `file:${driver}` } : {}),
      'nestjs-session-auth': `file:${auth.tarball}`,
      'nestjs-session-auth-client': `file:${client.tarball}`,
    };
    // TypeORM 0.3.20 allows only older versions of better-sqlite3 than the workspace has.
    const overrides = driver ? { typeorm: { 'better-sqlite3': '$better-sqlite3' } } : {};
    const manifest = { name: 'fresh-application', private: true, dependencies, overrides };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    run(
      'npm',
      ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', '--strict-peer-deps'],
      folder,
    );
    cpSync(join(__dirname, 'application/identity.mjs'), join(folder, 'identity.mjs'));
    return new Installation(folder, versions);
  }

  versionOf(name: string): string {
    const manifest = readFileSync(join(this.folder, 'node_modules', name, 'package.json'), 'utf8');
    return (JSON.parse(manifest) as { version: string }).version;
  }

  /** Returns the versions that npm has resolved for the packages that matter to the library. */
  resolved(): Record<string, string> {
    return Object.fromEntries(SHOWN.map((name) => [name, this.versionOf(name)]));
  }

  /** Checks that `import` and `require()` load the same names and the same classes. */
  checkIdentity(node: string): void {
    run(node, [join(this.folder, 'identity.mjs')], this.folder);
  }
}
