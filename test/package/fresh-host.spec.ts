import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brokenLinks, linksOf } from '../docs/links';
import { createDatabase } from '../support/databases';
import { describeAttacks } from './attacks/application';
import { compileApps, runApp } from './client-apps';
import { compileHost, type CompiledHost } from './compile';
import { withHost } from './host-process';
import { Installation } from './installation';
import { packLibrary, type PackedLibrary } from './pack';
import { ROOT, run } from './run';
import type { Layout, Versions } from './settings';
import { tellStory } from './story';

/** Hosts at both ends of what is allowed, on this Node and on SQLite; `npm run matrix` tries what is between. */
const CORNERS: { versions: Versions; layout: Layout }[] = [
  { versions: { nest: '11', typeorm: '0.3' }, layout: { modules: 'CommonJS', resolution: 'node10' } },
  { versions: { nest: '12', typeorm: '1' }, layout: { modules: 'ESM', resolution: 'nodenext' } },
];

describe('the packed library', () => {
  let work: string;
  let packed: PackedLibrary;
  const installations = new Map<Versions, Installation>();
  const installationOf = (versions: Versions): Installation => {
    const made = installations.get(versions) ?? Installation.make(work, versions, packed.tarball);
    installations.set(versions, made);
    return made;
  };

  beforeAll(() => {
    work = mkdtempSync(join(tmpdir(), 'nsa-package-'));
    packed = packLibrary(work);
  }, 120_000);
  afterAll(() => rmSync(work, { recursive: true, force: true }));

  it('holds what each source file was compiled to, and nothing else', () => {
    const outside = packed.files.filter((path) => !path.startsWith('dist/'));
    const guides = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));
    const top = ['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'package.json'];
    expect(outside.sort()).toEqual([...top, ...guides.map((name) => `docs/${name}`)].sort());
    const inside = packed.files.filter((path) => /^dist\/.*\.m?js$/.test(path));
    const sources = run('git', ['ls-files', 'libs/auth/src'], ROOT).split('\n').filter(Boolean);
    const expected = sources
      .filter((path) => !path.endsWith('.spec.ts'))
      .map((path) => path.replace('libs/auth/src/', 'dist/').replace(/\.(m?)ts$/, '.$1js'));
    // The client's a second time, as ES modules.
    const modules = expected.filter((path) => path.startsWith('dist/client/'));
    expected.push(...modules.map((path) => path.replace('dist/client/', 'dist/client/esm/')));
    expect(inside.sort()).toEqual(expected.sort());
    expect(packed.files.every((path) => /\.(m?js|d\.m?ts|md|json)$|LICENSE$/.test(path))).toBe(true);
  });

  it('has documents whose links lead to files of the package and to headings in them', () => {
    const read = (path: string): string | undefined =>
      packed.files.includes(path) ? readFileSync(join(work, 'package', path), 'utf8') : undefined;
    const documents = packed.files.filter((path) => path.endsWith('.md'));
    expect(linksOf('README.md', read('README.md')!).length).toBeGreaterThan(30);
    expect(documents.flatMap((path) => brokenLinks(path, read))).toEqual([]);
  });

  it('has a README with the quick start and the endpoints, and without what only the repository has', () => {
    const text = readFileSync(join(work, 'package/README.md'), 'utf8');
    for (const words of ['/auth/login/', 'npm install nestjs-session-auth', '`GET auth/sessions/`']) {
      expect(text).toContain(words);
    }
    expect(text).not.toMatch(/<!--|npm ci|docs\/images|ARCHITECTURE|CONTRIBUTING/);
  });

  it('passes publint and are-the-types-wrong', () => {
    const said = run(process.execPath, [join(ROOT, 'scripts/lint-package.mjs'), packed.tarball], ROOT);
    expect(said).toContain('find nothing in ., ./testing, ./client, ./node-sqlite, ./package.json');
  }, 60_000);

  it.each(CORNERS)(
    'keeps its types, starts and does its work on Nest $versions.nest with TypeORM $versions.typeorm in $layout.modules under $layout.resolution',
    async ({ versions, layout }) => {
      const installation = installationOf(versions);
      installation.checkIdentity(process.execPath);
      const host = compileHost(installation, layout);
      const database = await createDatabase('sqlite');
      try {
        const apps = compileApps(installation);
        await withHost(host, process.execPath, database.options, async (url) => {
          await tellStory(url, versions.nest === '11');
          for (const app of apps) expect(await runApp(process.execPath, app, url)).toBe('1 200 signed_out');
        });
      } finally {
        await database.drop();
      }
    },
    300_000,
  );

  const { versions: newest, layout } = CORNERS.at(-1)!;
  let attacked: CompiledHost | undefined;
  describeAttacks(() => (attacked ??= compileHost(installationOf(newest), layout, 'own-users')));
});
