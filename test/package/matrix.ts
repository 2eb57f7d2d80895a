import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Installation, lintPackage, packLibrary, type CompiledApplication } from './installation';
import { tryManagers } from './managers';
import { nodeAt, nodeBinary, type NodeBinary } from './node-binaries';
import { tryReadme } from './readme-commands';
import { attempt, ROOT, runAttempts, withApplication } from './run';
import * as settings from './settings';
import { walkThrough } from './walk-through';

const text = { type: 'string' } as const;
const { values } = parseArgs({
  options: { part: text, nest: text, typeorm: text, node: text, modules: text, write: { type: 'boolean' } },
});

const PAGE = join(ROOT, 'docs/compatibility.md');

const SHOWN = ['@nestjs/core', '@nestjs/event-emitter', '@nestjs/typeorm', 'typeorm', 'class-validator', 'typescript'];

/** The parts of the matrix. Each returns its results as Markdown tables. */
const PARTS: Readonly<Record<string, (work: string) => Promise<string>>> = {
  readme: async (work) => {
    const rows: string[][] = [];
    for (const node of nodesOf(settings.NODE_LINES)) rows.push(await tryReadme(work, node));
    return table(['Node', 'SQLite', 'Installs, starts, and a user logs in'], rows);
  },
  managers: async (work) =>
    table(['Installed with', 'Starts, and a user logs in'], await tryManagers(work, packLibrary(work))),
  older: (work) => tryApplications(work, settings.OLDER_VERSIONS, settings.OLDER_LAYOUTS, settings.OLDER_NODES),
  applications: (work) => tryApplications(work, settings.VERSIONS, settings.LAYOUTS, settings.NODES),
};

/**
 * Tests every combination of versions that the package allows, other package managers and a bundler, and the README's
 * commands on every line of Node.
 */
async function main(): Promise<void> {
  const { part, nest, typeorm, node, modules, write } = values;
  const names = Object.keys(PARTS).filter((name) => (part ?? name) === name);
  if (names.length === 0) {
    throw new Error(`--part is '${part}'; use one of ${Object.keys(PARTS).join(', ')}, or omit it for all`);
  }
  if (write && (nest || typeorm || node || modules))
    throw new Error('--write needs the results of a whole part. Remove --nest, --typeorm, --node and --modules.');
  await runAttempts('nsa-matrix-', async (work) => {
    for (const name of names) {
      const tables = await PARTS[name]!(work);
      if (write) writePart(name, tables);
    }
  });
}

function nodesOf(all: readonly string[]): NodeBinary[] {
  return (values.node?.split(',') ?? all).map(nodeBinary);
}

/** Returns two tables: the results, and the versions they were measured with. */
async function tryApplications(
  work: string,
  allVersions: readonly settings.Versions[],
  allLayouts: readonly settings.Layout[],
  allNodes: readonly string[],
): Promise<string> {
  const { nest: onlyNest, typeorm: onlyTypeorm, modules: onlyModules } = values;
  const chosen = allVersions.filter(
    ({ nest, typeorm }) => (onlyNest ?? nest) === nest && (onlyTypeorm ?? typeorm) === typeorm,
  );
  const layouts = allLayouts.filter(({ modules }) => (onlyModules ?? modules) === modules);
  if (chosen.length === 0 || layouts.length === 0) throw new Error('No application was chosen.');
  const nodes = nodesOf(allNodes);
  // SQLite also runs on this Node, for which the workspace is installed.
  const own = nodeAt(process.execPath);
  const withSqlite = [own, ...nodes.filter(({ hasSqlite, version }) => hasSqlite && version !== own.version)];
  const runtimes = [
    ...nodes.map((node) => ({ node, server: 'PostgreSQL', database: 'postgres' }) as const),
    ...withSqlite.map((node) => ({ node, server: 'SQLite', database: 'sqlite' }) as const),
  ];
  const packed = packLibrary(work);
  for (const one of [packed.auth, packed.client]) console.log(lintPackage(one).trim());
  const rows: string[][] = [];
  const resolved: string[][] = [];
  for (const versions of chosen) {
    const installation = Installation.make(work, versions, packed);
    resolved.push(SHOWN.map((name) => installation.versionOf(name)));
    for (const { node } of runtimes) installation.checkIdentity(node.path);
    for (const layout of layouts) {
      const parts = [versions.nest, versions.typeorm, layout.modules, layout.resolution];
      const name = `Nest ${parts[0]}, TypeORM ${parts.slice(1).join(', ')}`;
      let application: CompiledApplication | undefined;
      await attempt(name, async () => void (application = installation.compile(layout)));
      const row = [...parts, typesOf(application)];
      for (const { node, server, database } of application ? runtimes : []) {
        const walk = (url: string): Promise<void> => walkThrough(url, settings.hasDevices(versions));
        const title = `${name}, Node ${node.version}, ${server}`;
        row.push(await attempt(title, () => withApplication(application!.entry, node.path, database, walk)));
      }
      rows.push(row);
    }
  }
  const columns = runtimes.map(({ node, server }) => `${node.version}, ${server}`);
  const head = ['Nest', 'TypeORM', 'Modules', '`moduleResolution`', 'Types, by TypeScript', ...columns];
  const shown = SHOWN.map((name) => `\`${name}\``);
  return `${table(head, rows)}\n${table(shown, resolved)}`;
}

function typesOf(application: CompiledApplication | undefined): string {
  if (!application) return 'fail';
  const { compilers, faulty } = application;
  const errors = `; errors in ${faulty.map((name) => `\`${name}\``).join(', ')} itself`;
  return `compile with ${compilers.join(' and ')}${faulty.length > 0 ? errors : ''}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

function writePart(part: string, tables: string): void {
  const page = readFileSync(PAGE, 'utf8');
  const between = new RegExp(`(<!-- ${part}, written by npm run matrix -- --write -->\\n)[^]*?(<!-- until here -->)`);
  if (!between.test(page)) throw new Error('docs/compatibility.md has lost its markers.');
  writeFileSync(
    PAGE,
    page.replace(between, (_, begin, end) => `${begin}\n${tables}\n${end}`),
  );
}

void main();
