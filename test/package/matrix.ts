import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { renderHosts, renderReadme, writePart } from './compatibility-page';
import { Installation } from './installation';
import { failuresOf, type MatrixResult, type Row } from './matrix-result';
import { nodeAt, nodeBinary } from './node-binaries';
import { packLibrary } from './pack';
import { runReadme, type ReadmeRun } from './readme-commands';
import { ROOT, run } from './run';
import { LAYOUTS, NODE_LINES, NODES, VERSIONS } from './settings';
import { tryHosts, type Place } from './try-hosts';

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

/** Tries every combination that the package allows, and the README's commands on every line of Node, and says what was seen. */
async function main(): Promise<void> {
  const { part, nest, typeorm, node, modules, write } = values;
  if (part !== undefined && part !== 'hosts' && part !== 'readme') {
    throw new Error(`--part is '${part}'; write hosts or readme, or leave it out for both`);
  }
  if (write && (nest || typeorm || node || modules)) throw new Error('Only a whole part can be written into the page.');
  const work = mkdtempSync(join(tmpdir(), 'nsa-matrix-'));
  const failures: string[] = [];
  try {
    if (part !== 'hosts') {
      const runs = await tryReadme(work);
      failures.push(...runs.flatMap((one) => (one.failure ? [`README, Node ${one.node}: ${one.failure}`] : [])));
      if (write) writePart('readme', renderReadme(runs));
    }
    if (part !== 'readme') {
      const result = await tryAllHosts(work);
      failures.push(...failuresOf(result));
      if (write) writePart('hosts', renderHosts(result));
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

async function tryAllHosts(work: string): Promise<MatrixResult> {
  const { nest: onlyNest, typeorm: onlyTypeorm, modules: onlyModules, node: onlyNodes } = values;
  const chosen = VERSIONS.filter(
    ({ nest, typeorm }) => (onlyNest ?? nest) === nest && (onlyTypeorm ?? typeorm) === typeorm,
  );
  const layouts = LAYOUTS.filter(({ modules }) => (onlyModules ?? modules) === modules);
  const places = placesOn(onlyNodes?.split(',') ?? NODES);
  const packed = packLibrary(work);
  for (const { tarball } of [packed.auth, packed.client]) {
    console.log(run(process.execPath, [join(ROOT, 'scripts/lint-package.mjs'), tarball], ROOT).trim());
  }
  const rows: Row[] = [];
  const installed: MatrixResult['installed'][number][] = [];
  for (const versions of chosen) {
    const installation = Installation.make(work, versions, packed);
    installed.push({ versions, resolved: installation.resolved() });
    rows.push(...(await tryHosts(installation, places, layouts)));
  }
  const ran = rows.reduce((count, row) => count + row.runs.length, 0);
  if (ran === 0) throw new Error('Nothing was run.');
  console.log(`\n${rows.length} hosts compiled, ${ran} runs.`);
  return { rows, installed };
}

/** PostgreSQL on each Node; SQLite on each that has its own, and on this one, for which the workspace is installed. */
function placesOn(versions: readonly string[]): Place[] {
  const nodes = versions.map(nodeBinary);
  const own = nodeAt(process.execPath);
  const withSqlite = nodes.filter(({ hasSqlite, version }) => hasSqlite && version !== own.version);
  return [
    ...nodes.map((node): Place => ({ node, database: 'PostgreSQL' })),
    ...[own, ...withSqlite].map((node): Place => ({ node, database: 'SQLite' })),
  ];
}

void main();
