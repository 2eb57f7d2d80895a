import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writePage } from './compatibility-page';
import { Installation } from './installation';
import { failuresOf, type MatrixResult, type Row } from './matrix-result';
import { nodeBinary } from './node-binaries';
import { packLibrary } from './pack';
import { ROOT, run } from './run';
import { LAYOUTS, NODES, VERSIONS } from './settings';
import { tryHosts, type Place } from './try-hosts';

/** Tries every combination that the package allows, and says what was seen. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      nest: { type: 'string' },
      typeorm: { type: 'string' },
      node: { type: 'string' },
      modules: { type: 'string' },
      write: { type: 'boolean' },
    },
  });
  const isWhole = !values.nest && !values.typeorm && !values.node && !values.modules;
  if (values.write && !isWhole) throw new Error('Only the whole matrix can be written into the page.');
  const chosen = VERSIONS.filter(
    ({ nest, typeorm }) => (values.nest ?? nest) === nest && (values.typeorm ?? typeorm) === typeorm,
  );
  const layouts = LAYOUTS.filter(({ modules }) => (values.modules ?? modules) === modules);
  const work = mkdtempSync(join(tmpdir(), 'nsa-matrix-'));
  try {
    const places = placesOn(values.node?.split(',') ?? NODES);
    const { tarball } = packLibrary(work);
    console.log(run(process.execPath, [join(ROOT, 'scripts/lint-package.mjs'), tarball], ROOT).trim());
    const rows: Row[] = [];
    const installed: MatrixResult['installed'][number][] = [];
    for (const versions of chosen) {
      const installation = Installation.make(work, versions, tarball);
      installed.push({ versions, resolved: installation.resolved() });
      rows.push(...(await tryHosts(installation, places, layouts)));
    }
    const result = { rows, installed };
    const failures = failuresOf(result);
    for (const failure of failures) console.error(`\n${failure}`);
    const ran = rows.reduce((count, row) => count + row.runs.length, 0);
    console.log(`\n${rows.length} hosts compiled, ${ran} runs, ${failures.length} failures.`);
    if (values.write) writePage(result);
    if (failures.length > 0 || ran === 0) process.exitCode = 1;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** PostgreSQL on each Node; SQLite on this one. */
function placesOn(versions: readonly string[]): Place[] {
  const nodes = versions.map(nodeBinary);
  const own = { path: process.execPath, version: process.versions.node };
  return [...nodes.map((node): Place => ({ node, database: 'PostgreSQL' })), { node: own, database: 'SQLite' }];
}

void main();
