import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SQLITE_DRIVER } from '../support/sqlite';
import { npmInstall, ROOT, run } from './run';
import { compilerOptionsOf, dependenciesOf, type Layout, type Versions } from './settings';

interface Packed {
  readonly tarball: string;
  readonly files: readonly string[];
  /** The folder from which it was packed. */
  readonly folder: string;
}

export interface PackedLibrary {
  readonly auth: Packed;
  readonly client: Packed;
}

/** The folder of better-sqlite3 as the workspace compiled it, or null if Node's own driver is used. */
export const DRIVER =
  SQLITE_DRIVER === 'better-sqlite3' ? dirname(require.resolve('better-sqlite3/package.json')) : null;

/** Builds the library and its client outside the workspace, and packs them as they would be published. */
export function packLibrary(work: string): PackedLibrary {
  const folder = join(work, 'package');
  run('npx', ['tsc', '-p', 'libs/auth/tsconfig.lib.json', '--outDir', join(folder, 'auth/dist')], ROOT);
  run(process.execPath, ['scripts/build-client.mjs', join(folder, 'client/dist')], ROOT);
  run(process.execPath, ['scripts/build-docs.mjs', folder], ROOT);
  return { auth: pack('auth', folder), client: pack('client', folder) };
}

function pack(name: keyof PackedLibrary, parent: string): Packed {
  const folder = join(parent, name);
  for (const file of ['package.json', 'LICENSE', ...(name === 'auth' ? ['schematics'] : [])]) {
    cpSync(join(ROOT, 'libs', name, file), join(folder, file), { recursive: true });
  }
  type Report = { readonly filename: string; readonly files: readonly { readonly path: string }[] };
  const [{ filename, files }] = JSON.parse(run('npm', ['pack', '--json'], folder)) as [Report];
  return { tarball: join(folder, filename), files: files.map(({ path }) => path), folder };
}

export function lintPackage({ tarball }: Packed): string {
  return run(process.execPath, [join(ROOT, 'scripts/lint-package.mjs'), tarball], ROOT);
}

export function writeManifest(
  folder: string,
  { auth, client }: PackedLibrary,
  peers: Readonly<Record<string, string>>,
  more: object = {},
): void {
  const own = { 'nestjs-session-auth': `file:${auth.tarball}`, 'nestjs-session-auth-client': `file:${client.tarball}` };
  const manifest = { name: 'fresh-application', private: true, dependencies: { ...peers, ...own }, ...more };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
}

export interface CompiledApplication {
  readonly entry: string;
  /** The versions of TypeScript that accept the types. */
  readonly compilers: readonly string[];
  /** Other packages whose declarations contain errors, which applications ignore with `skipLibCheck`. */
  readonly faulty: readonly string[];
}

/** A folder in which the packed library, its client and their peers are installed, as in an application. */
export class Installation {
  private constructor(readonly folder: string) {}

  /** Creates an installation. npm resolves every version again, and checks the peer dependencies. */
  static make(work: string, versions: Versions, packed: PackedLibrary): Installation {
    const folder = join(work, `nest-${versions.nest}-typeorm-${versions.typeorm}`);
    mkdirSync(folder);
    const peers = { ...dependenciesOf(versions), ...(DRIVER && { 'better-sqlite3': `file:${DRIVER}` }) };
    // TypeORM 0.3.20 allows only older versions of better-sqlite3 than the workspace has.
    const overrides = DRIVER ? { typeorm: { 'better-sqlite3': '$better-sqlite3' } } : {};
    writeManifest(folder, packed, peers, { overrides });
    npmInstall(folder, '--prefer-offline', '--strict-peer-deps');
    cpSync(join(__dirname, 'application/identity.mjs'), join(folder, 'identity.mjs'));
    return new Installation(folder);
  }

  versionOf(name: string): string {
    const manifest = readFileSync(join(this.folder, 'node_modules', name, 'package.json'), 'utf8');
    return (JSON.parse(manifest) as { version: string }).version;
  }

  checkIdentity(node: string): void {
    run(node, [join(this.folder, 'identity.mjs')], this.folder);
  }

  /**
   * Compiles an application in its layout, and checks its types with the newest TypeScript as well.
   *
   * @throws if the application's code or the library's declarations contain an error
   */
  compile(layout: Layout): CompiledApplication {
    const folder = this.writeSources(layout);
    const faulty = this.tsc('typescript', folder);
    const compilers = [this.versionOf('typescript')];
    // TypeScript 7 does not support node10.
    if (layout.resolution !== 'node10') {
      faulty.push(...this.tsc('newest-typescript', folder, '--noEmit'));
      compilers.push(this.versionOf('newest-typescript'));
      // Common settings for ESM. Only the types are checked, because the emitted code is the same.
      const bundler = ['--noEmit', '--module', 'es2022', '--moduleResolution', 'bundler'];
      if (layout.modules === 'ESM') faulty.push(...this.tsc('newest-typescript', folder, ...bundler));
    }
    return { entry: join(folder, 'dist/main.js'), compilers, faulty: [...new Set(faulty)].sort() };
  }

  private writeSources({ modules, resolution }: Layout): string {
    const folder = join(this.folder, `${modules}-${resolution}`);
    for (const file of ['main.ts', 'types.ts']) {
      cpSync(join(__dirname, 'application', file), join(folder, 'src', file));
    }
    const type = modules === 'ESM' ? 'module' : 'commonjs';
    const compilerOptions = compilerOptionsOf({ modules, resolution }, this.versionOf('typescript'));
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'fresh-application', private: true, type }));
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }));
    return folder;
  }

  /** Compiles a folder with all declarations checked. Returns the other packages whose declarations contain errors. */
  private tsc(compiler: string, folder: string, ...flags: readonly string[]): string[] {
    const path = join(this.folder, 'node_modules', compiler, 'bin/tsc');
    const args = [path, '-p', folder, '--pretty', 'false', ...flags];
    const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
    const errors = stdout.split('\n').filter((line) => /\berror TS\d+/.test(line));
    const ours = errors.filter((error) => !packageOf(error));
    if (ours.length > 0 || stderr || (status !== 0 && errors.length === 0)) {
      const version = this.versionOf(compiler);
      throw new Error(`The application does not compile with TypeScript ${version}:\n${ours.join('\n')}${stderr}`);
    }
    return errors.map((error) => packageOf(error)!);
  }
}

/** Returns the package whose declaration contains the error, unless it is the library. */
function packageOf(error: string): string | undefined {
  const name = /^[^(]*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(error)?.[1];
  return name?.startsWith('nestjs-session-auth') ? undefined : name;
}
