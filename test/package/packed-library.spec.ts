import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brokenLinks, linksOf } from '../../website/links';
import { DRIVER, Installation, lintPackage, packLibrary, type PackedLibrary } from './installation';
import { npmInstall, ROOT, run, whileListening, withApplication } from './run';
import { hasDevices, type Layout, type Versions } from './settings';
import { walkThrough } from './walk-through';

/**
 * The oldest and newest supported versions, on this Node and on SQLite. `npm run matrix` tests the versions in
 * between.
 */
const CORNERS: readonly { versions: Versions; layout: Layout }[] = [
  { versions: { nest: '10', typeorm: '0.3.20' }, layout: { modules: 'CommonJS', resolution: 'node10' } },
  { versions: { nest: '12', typeorm: '1' }, layout: { modules: 'ESM', resolution: 'nodenext' } },
];

const CLIENT_ENTRIES = '., ./ssr, ./react, ./vue, ./svelte, ./query, ./testing, ./package.json';

const GUIDES = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));
const DOCUMENTS = ['CHANGELOG.md', 'SECURITY.md', ...GUIDES.map((name) => `docs/${name}`)];

/** Returns the JavaScript files that the source files of a package are compiled to. */
function compiled(name: 'auth' | 'client', to: string): string[] {
  return run('git', ['ls-files', `libs/${name}/src`], ROOT)
    .split('\n')
    .filter((path) => /(?<!\.spec|\.d)\.m?ts$/.test(path))
    .map((path) => path.replace(`libs/${name}/src/`, to).replace(/\.(m?)ts$/, '.$1js'));
}

const OPTIONS = `type: 'better-sqlite3', database: ':memory:', synchronize: true`;
const TYPEORM = `TypeOrmModule.forRoot({ ${OPTIONS}${DRIVER ? '' : ', driver: NodeSqlite'} })`;

const MAIN = `
import { NestFactory } from '@nestjs/core';
import { AuthService } from 'nestjs-session-auth';
import { AppModule } from './app.module.js';

async function bootstrap() {
  const app = await NestFactory.create(AppModule);
  await app.get(AuthService).createUser({ username: 'alice', password: 'correct horse battery staple' });
  await app.listen(0, '127.0.0.1');
  console.log(\`listening \${await app.getUrl()}\`);
}
void bootstrap();
`;

describe('the packed library', () => {
  let work: string;
  let packed: PackedLibrary;

  beforeAll(() => {
    work = mkdtempSync(join(tmpdir(), 'nsa-package-'));
    packed = packLibrary(work);
  }, 120_000);
  afterAll(() => rmSync(work, { recursive: true, force: true }));

  // The client is packed as ES modules and as CommonJS.
  it.each<['auth' | 'client', string[], string[]]>([
    ['auth', ['dist/'], [...DOCUMENTS, 'schematics/collection.json', 'schematics/nest-add.json']],
    ['client', ['dist/cjs/', 'dist/esm/'], []],
  ])(
    'the package of libs/%s contains the compiled files of its sources and its documents, and nothing else',
    (name, folders, others) => {
      const { files } = packed[name];
      const outside = files.filter((path) => !path.startsWith('dist/'));
      expect(outside.sort()).toEqual(['LICENSE', 'README.md', 'package.json', ...others].sort());
      const inside = files.filter((path) => /^dist\/.*\.m?js$/.test(path));
      expect(inside.sort()).toEqual(folders.flatMap((folder) => compiled(name, folder)).sort());
      expect(files.every((path) => /\.(m?js|d\.m?ts|md|json)$|LICENSE$/.test(path))).toBe(true);
    },
  );

  it('the packed client has no dependencies other than optional peers, and no scripts', () => {
    const manifest = JSON.parse(readFileSync(join(packed.client.folder, 'package.json'), 'utf8')) as object;
    const found = Object.keys(manifest).filter((name) => /dependencies|scripts/i.test(name));
    expect(found).toEqual(['peerDependencies', 'peerDependenciesMeta']);
  });

  it('links in the packed documents lead to files of the package and to headings in them', () => {
    for (const { files, folder } of [packed.auth, packed.client]) {
      const read = (path: string): string | undefined =>
        files.includes(path) ? readFileSync(join(folder, path), 'utf8') : undefined;
      const documents = files.filter((path) => path.endsWith('.md'));
      expect(documents.flatMap((path) => brokenLinks(path, read))).toEqual([]);
    }
    const readme = readFileSync(join(packed.auth.folder, 'README.md'), 'utf8');
    expect(linksOf('README.md', readme).length).toBeGreaterThan(4);
  });

  it('the packed README contains the quick start, and omits what exists only in the repository', () => {
    const text = readFileSync(join(packed.auth.folder, 'README.md'), 'utf8');
    for (const words of ['/auth/login/', 'npm install nestjs-session-auth', 'nest add']) {
      expect(text).toContain(words);
    }
    expect(text).not.toMatch(/<!--|npm ci|docs\/images|ARCHITECTURE|CONTRIBUTING/);
  });

  it('the packed library passes publint and are-the-types-wrong', () => {
    expect(lintPackage(packed.auth)).toContain('find nothing in ., ./testing, ./node-sqlite, ./package.json');
    expect(lintPackage(packed.client)).toContain(`find nothing in ${CLIENT_ENTRIES}`);
  }, 60_000);

  it.each(CORNERS)(
    'the packed library compiles and runs on Nest $versions.nest with TypeORM $versions.typeorm in $layout.modules under $layout.resolution',
    async ({ versions, layout }) => {
      const installation = Installation.make(work, versions, packed);
      installation.checkIdentity(process.execPath);
      const { entry } = installation.compile(layout);
      await withApplication(entry, process.execPath, 'sqlite', (url) => walkThrough(url, hasDevices(versions)));
    },
    300_000,
  );

  it.each(['11', '12'])(
    'nest add adds the library to a new application on Nest %s with TypeORM, which builds, and a user logs in',
    async (nest) => {
      const name = `shop-${nest}`;
      const folder = join(work, name);
      const flags = ['--skip-install', '--skip-git', '--package-manager', 'npm'];
      run('npx', ['--yes', `@nestjs/cli@${nest}`, 'new', name, ...flags], work);
      withoutTools(folder);
      npmInstall(
        folder,
        '--prefer-offline',
        packed.auth.tarball,
        ...(DRIVER ? [DRIVER] : []),
        `@nestjs/typeorm@${nest}`,
        'typeorm@1',
      );
      const modulePath = join(folder, 'src/app.module.ts');
      const imports = `import { TypeOrmModule } from '@nestjs/typeorm';\nimport { NodeSqlite } from 'nestjs-session-auth/node-sqlite';\n`;
      const text = readFileSync(modulePath, 'utf8').replace('imports: []', `imports: [${TYPEORM}]`);
      writeFileSync(modulePath, imports + text);
      writeFileSync(join(folder, 'src/main.ts'), MAIN);

      const add = (): string =>
        run('npx', ['nest', 'add', 'nestjs-session-auth', '--skip-install', '--users=own'], folder);
      expect(add()).toMatch(/changed\s+src\/app\.module\.ts\s+package\.json/);
      expect(add()).toContain('Nothing changed.');
      npmInstall(folder, '--prefer-offline');
      run('npx', ['nest', 'build'], folder);
      const app = spawn(process.execPath, ['dist/main.js'], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
      await whileListening(app, /listening (\S+)/, async (url) => {
        const body = JSON.stringify({ username: 'alice', password: 'correct horse battery staple' });
        const headers = { 'content-type': 'application/json' };
        expect((await fetch(`${url}/auth/login/`, { method: 'POST', headers, body })).status).toBe(200);
      });
    },
    600_000,
  );
});

/** Removes the packages with which a new application is tested and linted, because their installation takes a minute. */
function withoutTools(folder: string): void {
  const path = join(folder, 'package.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as { devDependencies: Record<string, string> };
  const needed = /^(@nestjs\/(cli|schematics)|@types\/(express|node)|typescript|vitest)$/;
  const kept = Object.entries(manifest.devDependencies).filter(([name]) => needed.test(name));
  writeFileSync(path, JSON.stringify({ ...manifest, devDependencies: Object.fromEntries(kept) }, null, 2));
}
