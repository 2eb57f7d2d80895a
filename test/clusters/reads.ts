import { bearer, jsonRequest } from '../crash/request-with-retries';
import { DATABASE, startInstances } from './cluster';
import { startGalera, type GaleraCluster } from './mysql';
import { startPgpool, startPostgres, type PostgresCluster } from './postgres';
import { figure, type Outcome, type Scenario } from './scenario';
import { ask, askUntilAnswered, logIn, type Session } from './storm-clients';
import { prepare } from './tables';
import type { Workspace } from './workspace';

const LOGOUTS = 100;
const REPLAYS = 200;
const USERS = ['one', 'two', 'three', 'four'];
/** The number of rows that a batch job changes in one transaction, which the other servers then apply. */
const BATCH_ROWS = 30_000;

/**
 * Runs two instances while the servers apply batch changes. Counts how often one instance does not know a change
 * that the other instance has already confirmed.
 *
 * @param ports the ports of the instances
 * @param atMost the highest allowed count, or Infinity if the count is only reported
 */
async function measure(
  workspace: Workspace,
  cluster: PostgresCluster | GaleraCluster,
  ports: readonly number[],
  atMost: number,
): Promise<Outcome[]> {
  const run = (sql: string): Promise<unknown> => cluster.nodes[0].query(sql, DATABASE);
  await prepare(cluster, USERS);
  const { urls } = await startInstances({ ...cluster, ports }, {}, workspace);
  const logouts: (number | null)[] = [];
  const replays: (boolean | null)[] = [];
  const work = async (username: string): Promise<void> => {
    for (let round = 0; round < LOGOUTS / USERS.length; round++) logouts.push(await logout(username, urls));
    for (let round = 0; round < REPLAYS / USERS.length; round++) replays.push(await replay(username, urls));
  };
  await run('CREATE TABLE batch (id INT PRIMARY KEY, n INT NOT NULL)');
  await run(`INSERT INTO batch VALUES ${Array.from({ length: BATCH_ROWS }, (_, id) => `(${id}, 0)`).join(', ')}`);
  let isOver = false;
  const batch = async (): Promise<void> => {
    while (!isOver) await run('UPDATE batch SET n = n + 1');
  };
  await Promise.all([batch(), Promise.all(USERS.map(work)).finally(() => (isOver = true))]);
  const staleMs = logouts.filter((ms) => ms !== null && ms > 0).map(Number);
  const figures = [
    figure('tokens accepted after their logout', staleMs.length, atMost),
    figure('longest time that one was accepted, ms', Math.round(Math.max(0, ...staleMs))),
    figure('undetected reuse', replays.filter((isMissed) => isMissed).length, atMost),
    figure('503', [...logouts, ...replays].filter((result) => result === null).length),
  ];
  return [{ subject: `${LOGOUTS} logouts, ${REPLAYS} reused tokens`, figures }];
}

type Urls = readonly [string, string];

/**
 * Logs out at the first instance, and presents the access token to the second. Returns how long the second one accepts
 * it, in milliseconds, or null after a 503.
 */
async function logout(username: string, [first, second]: Urls): Promise<number | null> {
  const { access_token: token } = await logIn(first, username);
  if ((await ask(first, 'auth/logout', jsonRequest({}, token)))?.status !== 200) return null;
  const at = performance.now();
  let staleMs = 0;
  while ((await ask(second, 'me', bearer(token)))?.status === 200) staleMs = performance.now() - at;
  return staleMs;
}

/**
 * Refreshes at the first instance, and presents the same refresh token to the second. Returns whether the second one
 * misses the reuse, or null after a 503.
 */
async function replay(username: string, [first, second]: Urls): Promise<boolean | null> {
  const { refresh_token: token } = await logIn(first, username);
  const request = jsonRequest({ refresh_token: token });
  const refreshed = await ask(first, 'auth/token/refresh', request);
  if (refreshed?.status !== 200 || !(await ask(second, 'auth/token/refresh', request))) return null;
  const { access_token: accessToken } = refreshed.body as Session;
  return (await askUntilAnswered(first, 'me', bearer(accessToken))).status !== 401;
}

const onGalera = (name: string, syncWait: 0 | 1): Scenario => ({
  ...{ name, cluster: 'Galera' },
  title: `instances on two nodes with \`wsrep_sync_wait=${syncWait}\`, during a batch job`,
  async run(workspace) {
    const cluster = await startGalera(workspace, { syncWait });
    const [first, second] = cluster.nodes;
    return measure(workspace, cluster, [first.port, second.port], syncWait === 1 ? 0 : Infinity);
  },
});

const onPgpool = (name: string, isBalancing: boolean): Scenario => ({
  ...{ name, cluster: 'PostgreSQL' },
  title: `instances behind Pgpool-II with \`load_balance_mode = ${isBalancing ? 'on' : 'off'}\`, during a batch job`,
  async run(workspace) {
    const cluster = await startPostgres(workspace);
    const port = await startPgpool(workspace, cluster.nodes, isBalancing);
    return measure(workspace, cluster, [port], isBalancing ? Infinity : 0);
  },
});

/** Runs two instances on two servers, and a job that keeps the servers busy applying changes. */
export const READS: readonly Scenario[] = [
  onPgpool('pgpool-causal-reads', false),
  onPgpool('pgpool-stale-reads', true),
  onGalera('galera-causal-reads', 1),
  onGalera('galera-stale-reads', 0),
];
