import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GaleraCluster } from '../galera-cluster';
import { PostgresCluster } from '../postgres-cluster';
import { figure, type Outcome, type Scenario } from '../scenario';
import type { Workspace } from '../workspace';

const ROOT = join(__dirname, '../../..');

/** Tests of the endpoints, and races of two instances. */
const SPECS = [
  ...['accounts/', 'login/', 'sessions/', 'throttle/', 'passwords/', 'history/', 'http/recent-login', 'http/cookie'],
  ...['http/auth-cookies', 'races/parallel', 'races/interleavings'],
].map((path) => `test/${path}`);
const SHORT_SPECS = ['test/races/parallel'];

/** The part of Jest's report that is used here. */
interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numRuntimeErrorTestSuites: number;
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly { status: string; fullName: string; failureMessages: string[] }[];
  }[];
}

/** Runs test files of this repository. Their instances connect to the URLs in turn. */
async function runSpecs(
  specs: readonly string[],
  database: 'postgres' | 'mariadb',
  urls: readonly string[],
  { folder, teardown }: Workspace,
): Promise<Outcome[]> {
  const output = join(folder, 'report.json');
  const jest = join(ROOT, 'node_modules/jest/bin/jest.js');
  const options = ['--forceExit', '--silent', '--maxWorkers=1', '--json', `--outputFile=${output}`];
  const child = spawn(process.execPath, [jest, ...options, ...specs], {
    cwd: ROOT,
    env: {
      ...process.env,
      TEST_DATABASES: database,
      // The second URL of PostgreSQL is that of PgBouncer.
      ...(database === 'postgres' ? { TEST_POOLER: '1' } : {}),
      [database === 'postgres' ? 'TEST_POSTGRES_URL' : 'TEST_MARIADB_URL']: urls.join(' '),
    },
    stdio: 'ignore',
  });
  teardown.add(async () => void child.kill('SIGKILL'));
  await once(child, 'exit');
  const report = JSON.parse(readFileSync(output, 'utf8')) as Report;
  const failed = report.testResults.flatMap(({ message, assertionResults }) => {
    const tests = assertionResults.filter(({ status }) => status === 'failed');
    return tests.length > 0 ? tests.map((test) => [test.fullName, ...test.failureMessages].join('\n')) : message || [];
  });
  const figures = [
    figure('tests passed', report.numPassedTests, null),
    figure('tests failed', report.numFailedTests + report.numRuntimeErrorTestSuites, 0),
  ];
  return [{ subject: specs.join(', '), figures, details: failed }];
}

const onPostgres = (name: string, specs: readonly string[], isShort: boolean): Scenario => ({
  ...{ name, isShort, cluster: 'PostgreSQL' },
  title: 'instances behind HAProxy, every second one behind PgBouncer too',
  async run(workspace) {
    const cluster = await PostgresCluster.start(workspace, {});
    const bouncer = await cluster.startBouncer(cluster.entryUrl('postgres', '*'));
    const urls = [cluster.entryUrl('postgres', 'postgres'), bouncer.replace(/\*$/, 'postgres')];
    return runSpecs(specs, 'postgres', urls, workspace);
  },
});

const onGalera = (name: string, specs: readonly string[], isShort: boolean): Scenario => ({
  ...{ name, isShort, cluster: 'Galera' },
  title: 'instances on two nodes, `wsrep_sync_wait=1`',
  async run(workspace) {
    const { nodes } = await GaleraCluster.start(workspace, {});
    const urls = nodes.slice(0, 2).map((node) => node.url('mysql'));
    return runSpecs(specs, 'mariadb', urls, workspace);
  },
});

export const CONTRACTS: readonly Scenario[] = [
  onPostgres('races', SHORT_SPECS, true),
  onPostgres('contract', SPECS, false),
  onGalera('galera-races', SHORT_SPECS, true),
  onGalera('galera-contract', SPECS, false),
];
