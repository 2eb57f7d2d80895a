import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startGalera } from './mysql';
import { postgresUrl, startBouncer, startPostgres } from './postgres';
import { figure, type Outcome, type Scenario } from './scenario';
import type { Workspace } from './workspace';

const ROOT = join(__dirname, '../..');

/** Tests of the endpoints, and races of two instances. */
const SPECS = [
  ...['accounts/', 'login/', 'sessions/', 'throttle/', 'passwords/', 'history/', 'http/recent-login', 'http/cookie'],
  ...['http/auth-cookies', 'races/parallel', 'races/interleavings'],
].map((path) => `test/${path}`);

async function runSpecs(isShort: boolean, env: object, { folder, teardown }: Workspace): Promise<Outcome[]> {
  const specs = isShort ? ['test/races/parallel'] : SPECS;
  const output = join(folder, 'report.json');
  const args = ['--forceExit', '--silent', '--maxWorkers=1', '--reporters=summary', '--json', '--outputFile', output];
  const child = spawn(join(ROOT, 'node_modules/.bin/jest'), [...args, ...specs], {
    ...{ cwd: ROOT, env: { ...process.env, ...env } },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  teardown.add(async () => void child.kill('SIGKILL'));
  await once(child, 'exit');
  const report = JSON.parse(readFileSync(output, 'utf8')) as Record<string, number>;
  const failed = report['numFailedTests']! + report['numRuntimeErrorTestSuites']!;
  const figures = [figure('tests passed', report['numPassedTests']!), figure('tests failed', failed, 0)];
  return [{ subject: specs.join(', '), figures }];
}

const onPostgres = (isShort: boolean): Scenario => ({
  ...{ name: isShort ? 'races' : 'contract', isShort, cluster: 'PostgreSQL' },
  title: 'instances behind HAProxy, every second one behind PgBouncer too',
  async run(workspace) {
    const { haproxy } = await startPostgres(workspace);
    const ports = [haproxy.ports[0]!, await startBouncer(workspace, haproxy, 'postgres')];
    const urls = ports.map((port) => postgresUrl(port)).join(' ');
    const env = { TEST_DATABASES: 'postgres', TEST_POOLER: '1', TEST_POSTGRES_URL: urls };
    return runSpecs(isShort, env, workspace);
  },
});

const onGalera = (isShort: boolean): Scenario => ({
  ...{ name: isShort ? 'galera-races' : 'galera-contract', isShort, cluster: 'Galera' },
  title: 'instances on two nodes, `wsrep_sync_wait=1`',
  async run(workspace) {
    const { nodes } = await startGalera(workspace);
    const urls = nodes.slice(0, 2).map((node) => node.url('mysql'));
    return runSpecs(isShort, { TEST_DATABASES: 'mariadb', TEST_MARIADB_URL: urls.join(' ') }, workspace);
  },
});

/** Runs test files whose instances connect to the servers in turn. */
export const CONTRACTS: readonly Scenario[] = [onPostgres(true), onPostgres(false), onGalera(true), onGalera(false)];
