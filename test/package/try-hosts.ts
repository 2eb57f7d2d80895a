import { createDatabase } from '../support/databases';
import { compileHost, type CompiledHost } from './compile';
import { withHost } from './host-process';
import type { Installation } from './installation';
import { nameOf, type Row, type Run } from './matrix-result';
import type { NodeBinary } from './node-binaries';
import type { Layout } from './settings';
import { tellStory } from './story';

/** Where hosts are run. */
export interface Place {
  readonly node: NodeBinary;
  readonly database: Run['database'];
}

/** Looks at the classes of an installation, compiles it in each layout and runs what comes of it in each place. */
export async function tryHosts(
  installation: Installation,
  places: readonly Place[],
  layouts: readonly Layout[],
): Promise<Row[]> {
  for (const { node } of places) installation.checkIdentity(node.path);
  const rows: Row[] = [];
  for (const layout of layouts) rows.push(await tryLayout(installation, layout, places));
  return rows;
}

async function tryLayout(installation: Installation, layout: Layout, places: readonly Place[]): Promise<Row> {
  const { versions } = installation;
  console.log(nameOf(versions, layout));
  let host: CompiledHost;
  try {
    host = compileHost(installation, layout);
  } catch (error) {
    console.log(`  does not compile`);
    return { versions, layout, compilers: [], faulty: [], failure: (error as Error).message, runs: [] };
  }
  const runs: Run[] = [];
  for (const { node, database } of places) {
    const failure = await failureOf(() => tryPlace(installation, host, { node, database }));
    console.log(`  Node ${node.version}, ${database}: ${failure ? 'fails' : 'works'}`);
    runs.push({ node: node.version, database, failure });
  }
  return { versions, layout, compilers: host.compilers, faulty: host.faulty, failure: undefined, runs };
}

async function tryPlace(installation: Installation, host: CompiledHost, { node, database }: Place): Promise<void> {
  const { options, drop } = await createDatabase(database === 'SQLite' ? 'sqlite' : 'postgres');
  try {
    await withHost(host, node.path, options, (url) => tellStory(url, installation.versions.nest === '11'));
  } finally {
    await drop();
  }
}

async function failureOf(attempt: () => Promise<void>): Promise<string | undefined> {
  try {
    await attempt();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
