import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { renderApplications, renderManagers, renderReadme, writePart } from './compatibility-page';
import { Installation } from './installation';
import { tryManagers } from './managers';
import { failuresOf, type MatrixResult, type Row } from './matrix-result';
import { nodeAt, nodeBinary } from './node-binaries';
import { packLibrary } from './pack';
import { runReadme, type ReadmeRun } from './readme-commands';
import { ROOT, run } from './run';
import {
  LAYOUTS,
  NODE_LINES,
  NODES,
  OLDER_LAYOUTS,
  OLDER_NODES,
  OLDER_VERSIONS,
  VERSIONS,
  type Layout,
  type Versions,
} from './settings';
import { tryApplications, type Runtime } from './try-applications';

const { values } = parseArgs({
  options: {
    part: { type: 'string' },
    nest: { type: 'string' },
    typeorm: { type: 'string' },
    node: { type: 'string' },
    modules: { type: 'string' },
    write: { type: 'boolean' },
  },
});

const PARTS: readonly string[] = ['readme', 'managers', 'older', 'applications'];

/**
 * Tests every combination of versions that the package allows, other package managers and a bundler, and the README's
 * commands on every line of Node.
 */
async function main(): Promise<void> {
  const { part, nest, typeorm, node, modules, write } = values;
  if (part !== undefined && !PARTS.includes(part)) {
    throw new Error(`--part is '${part}'; use one of ${PARTS.join(', ')}, or omit it for all`);
  }
  if (write && (nest || typeorm || node || modules))
    throw new Error('--write needs the results of a whole part. Remove --nest, --typeorm, --node and --modules.');
  const isWanted = (name: string): boolean => (part ?? name) === name;
  const work = mkdtempSync(join(tmpdir(), 'nsa-matrix-'));
  const failures: string[] = [];
  try {
    if (isWanted('readme')) {
      const runs = await tryReadme(work);
      failures.push(...runs.flatMap((one) => (one.failure ? [`README, Node ${one.node}: ${one.failure}`] : [])));
      if (write) writePart('readme', renderReadme(runs));
    }
    if (isWanted('managers')) {
      const runs = await tryManagers(work, packLibrary(work));
      failures.push(...runs.flatMap(({ name, failure }) => (failure ? [`${name}: ${failure}`] : [])));
      if (write) writePart('managers', renderManagers(runs));
    }
    if (isWanted('older')) {
      const result = await tryAllApplications(work, OLDER_VERSIONS, OLDER_LAYOUTS, OLDER_NODES);
      failures.push(...failuresOf(result));
      if (write) writePart('older', renderApplications(result));
    }
    if (isWanted('applications')) {
      const result = await tryAllApplications(work, VERSIONS, LAYOUTS, NODES);
      failures.push(...failuresOf(result));
      if (write) writePart('applications', renderApplications(result));
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  for (const failure of failures) console.error(`\n${failure}`);
  console.log(`\n${failures.length} failures.`);
  if (failures.length > 0) process.exitCode = 1;
}

async function tryReadme(work: string): Promise<ReadmeRun[]> {
  const runs: ReadmeRun[] = [];
  for (const version of values.node?.split(',') ?? NODE_LINES) runs.push(await runReadme(work, nodeBinary(version)));
  return runs;
}

async function tryAllApplications(
  work: string,
  allVersions: readonly Versions[],
  allLayouts: readonly Layout[],
  allNodes: readonly string[],
): Promise<MatrixResult> {
  const { nest: onlyNest, typeorm: onlyTypeorm, modules: onlyModules, node: onlyNodes } = values;
  const chosen = allVersions.filter(
    ({ nest, typeorm }) => (onlyNest ?? nest) === nest && (onlyTypeorm ?? typeorm) === typeorm,
  );
  const layouts = allLayouts.filter(({ modules }) => (onlyModules ?? modules) === modules);
  const runtimes = runtimesOn(onlyNodes?.split(',') ?? allNodes);
  const packed = packLibrary(work);
  for (const { tarball } of [packed.auth, packed.client]) {
    console.log(run(process.execPath, [join(ROOT, 'scripts/lint-package.mjs'), tarball], ROOT).trim());
  }
  const rows: Row[] = [];
  const installed: MatrixResult['installed'][number][] = [];
  for (const versions of chosen) {
    const installation = Installation.make(work, versions, packed);
    installed.push({ versions, resolved: installation.resolved() });
    rows.push(...(await tryApplications(installation, runtimes, layouts)));
  }
  const ran = rows.reduce((count, row) => count + row.runs.length, 0);
  if (ran === 0) throw new Error('Nothing was run.');
  console.log(`\n${rows.length} applications compiled, ${ran} runs.`);
  return { rows, installed };
}

/**
 * Returns PostgreSQL on each Node, and SQLite on each Node with `node:sqlite` and on this Node, for which the
 * workspace is installed.
 */
function runtimesOn(versions: readonly string[]): Runtime[] {
  const nodes = versions.map(nodeBinary);
  const own = nodeAt(process.execPath);
  const withSqlite = nodes.filter(({ hasSqlite, version }) => hasSqlite && version !== own.version);
  return [
    ...nodes.map((node): Runtime => ({ node, database: 'PostgreSQL' })),
    ...[own, ...withSqlite].map((node): Runtime => ({ node, database: 'SQLite' })),
  ];
}

void main();
