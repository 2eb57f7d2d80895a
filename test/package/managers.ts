import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Installation, writeManifest, type PackedLibrary } from './installation';
import { attempt, npmInstall, run, withApplication } from './run';
import { dependenciesOf, OPTIONAL, type Versions } from './settings';
import { walkThrough } from './walk-through';

/** Nest 12 consists of ES modules, which Plug'n'Play resolves only with a loader. */
const VERSIONS: Versions = { nest: '11', typeorm: '1' };
const TOOLS = ['pnpm@10', '@yarnpkg/cli-dist@4', 'esbuild@0.28'];

/** The part of esbuild's plugin API that is used here. */
interface Resolver {
  onResolve(options: { filter: RegExp }, resolve: (args: Record<string, string>) => Promise<object | undefined>): void;
  resolve(path: string, options: object): Promise<{ readonly errors: readonly unknown[] }>;
}

/** Runs one compiled application in three ways, on PostgreSQL. Returns their names and results. */
export async function tryManagers(work: string, packed: PackedLibrary): Promise<string[][]> {
  const tools = join(work, 'tools');
  mkdirSync(tools);
  writeFileSync(join(tools, 'package.json'), JSON.stringify({ name: 'tools', private: true }));
  npmInstall(tools, ...TOOLS);
  const installation = Installation.make(work, VERSIONS, packed);
  const { entry } = installation.compile({ modules: 'CommonJS', resolution: 'nodenext' });
  const dist = dirname(entry);
  const ways: Record<string, () => Promise<void>> = {
    'pnpm, without optional packages': async () => {
      const folder = project(work, 'pnpm', dist, packed);
      const peers = ['--config.strict-peer-dependencies=true', '--config.auto-install-peers=false'];
      const pnpm = [join(tools, 'node_modules/pnpm/bin/pnpm.cjs'), 'install', '--ignore-scripts', ...peers];
      run(process.execPath, pnpm, folder);
      await tryAt(join(folder, 'dist/main.js'), false);
    },
    "Yarn Plug'n'Play, without optional packages": async () => {
      const folder = project(work, 'yarn', dist, packed);
      const registry = run('npm', ['config', 'get', 'registry'], folder).trim();
      const settings = { nodeLinker: 'pnp', enableTelemetry: false, enableScripts: false, npmRegistryServer: registry };
      writeFileSync(join(folder, '.yarnrc.yml'), JSON.stringify(settings));
      writeFileSync(join(folder, 'yarn.lock'), '');
      const yarn = join(tools, 'node_modules/@yarnpkg/cli-dist/bin/yarn.js');
      run(process.execPath, [yarn, 'install'], folder, { ...process.env, YARN_ENABLE_IMMUTABLE_INSTALLS: 'false' });
      await tryAt(join(folder, 'dist/main.js'), false, { NODE_OPTIONS: `--require ${join(folder, '.pnp.cjs')}` });
    },
    'npm, bundled by esbuild': async () => {
      const { build } = createRequire(join(tools, 'package.json'))('esbuild') as {
        build(options: object): Promise<unknown>;
      };
      const outfile = join(installation.folder, 'bundle.js');
      const common = { bundle: true, platform: 'node', target: 'node20', keepNames: true, logLevel: 'error' };
      const plugins = [{ name: 'absent packages', setup: leaveOutAbsent }];
      // bcrypt is a native module, which cannot be bundled.
      await build({ ...common, entryPoints: [entry], outfile, external: ['bcrypt'], plugins });
      await tryAt(outfile, true);
    },
  };
  const rows: string[][] = [];
  for (const [name, way] of Object.entries(ways)) rows.push([name, await attempt(name, way)]);
  return rows;
}

/** Creates a project with the compiled application, whose dependencies are not yet installed. */
function project(work: string, name: string, dist: string, packed: PackedLibrary): string {
  const folder = join(work, name);
  cpSync(dist, join(folder, 'dist'), { recursive: true });
  const peers = dependenciesOf(VERSIONS);
  for (const one of [...OPTIONAL, 'newest-typescript']) delete peers[one];
  writeManifest(folder, packed, peers);
  return folder;
}

function tryAt(entry: string, hasDevices: boolean, env: NodeJS.ProcessEnv = {}): Promise<void> {
  return withApplication(entry, process.execPath, 'postgres', (url) => walkThrough(url, hasDevices), env);
}

/** Nest and TypeORM load many packages only if they are installed. esbuild would refuse absent ones. */
function leaveOutAbsent(resolver: Resolver): void {
  resolver.onResolve({ filter: /^[^./]/ }, async ({ path, kind, resolveDir, pluginData }) => {
    if (pluginData) return undefined;
    const { errors } = await resolver.resolve(path!, { kind, resolveDir, pluginData: true });
    return errors.length > 0 ? { path, external: true } : undefined;
  });
}
