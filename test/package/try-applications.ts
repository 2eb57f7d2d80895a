import { createDatabase } from '../support/databases';
import { compileApplication, type CompiledApplication } from './compile';
import { withApplication } from './application-process';
import type { Installation } from './installation';
import { nameOf, type Row, type Run } from './matrix-result';
import type { NodeBinary } from './node-binaries';
import { hasDevices, type Layout } from './settings';
import { walkThrough } from './walk-through';

/** A Node binary and a database to run an application with. */
export interface Runtime {
  readonly node: NodeBinary;
  readonly database: Run['database'];
}

/** Checks the class identity of an installation, compiles it in each layout, and runs the result in each runtime. */
export async function tryApplications(
  installation: Installation,
  runtimes: readonly Runtime[],
  layouts: readonly Layout[],
): Promise<Row[]> {
  for (const { node } of runtimes) installation.checkIdentity(node.path);
  const rows: Row[] = [];
  for (const layout of layouts) rows.push(await tryLayout(installation, layout, runtimes));
  return rows;
}

async function tryLayout(installation: Installation, layout: Layout, runtimes: readonly Runtime[]): Promise<Row> {
  const { versions } = installation;
  console.log(nameOf(versions, layout));
  let application: CompiledApplication;
  try {
    application = compileApplication(installation, layout);
  } catch (error) {
    console.log(`  does not compile`);
    return { versions, layout, compilers: [], faulty: [], failure: (error as Error).message, runs: [] };
  }
  const runs: Run[] = [];
  for (const { node, database } of runtimes) {
    const failure = await failureOf(() => tryRuntime(installation, application, { node, database }));
    console.log(`  Node ${node.version}, ${database}: ${failure ? 'fails' : 'works'}`);
    runs.push({ node: node.version, database, failure });
  }
  return { versions, layout, compilers: application.compilers, faulty: application.faulty, failure: undefined, runs };
}

async function tryRuntime(
  installation: Installation,
  application: CompiledApplication,
  { node, database }: Runtime,
): Promise<void> {
  const { options, drop } = await createDatabase(database === 'SQLite' ? 'sqlite' : 'postgres');
  try {
    await withApplication(application, node.path, options, (url) =>
      walkThrough(url, hasDevices(installation.versions)),
    );
  } finally {
    await drop();
  }
}

/** Returns the message of the error, or undefined if the attempt succeeds. */
export async function failureOf(attempt: () => Promise<void>): Promise<string | undefined> {
  try {
    await attempt();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
