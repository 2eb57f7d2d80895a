import { setTimeout as sleep } from 'node:timers/promises';
import { bearer, jsonRequest } from '../crash/request-with-retries';
import { DATABASE, startInstances, type Cluster } from './cluster';
import { startGalera } from './mysql';
import { startPgpool, startPostgres } from './postgres';
import { figure, type Outcome, type Scenario } from './scenario';
import { PASSWORD, type Session } from './storm-clients';
import { prepare } from './tables';
import type { Workspace } from './workspace';

const LOGOUTS = 100;
const REPLAYS = 200;
/** Each worker has its own user. */
const WORKERS = 4;
/** The number of rows that a batch job changes in one transaction, which the other servers then apply. */
const BATCH_ROWS = 30_000;

interface Counts {
  staleAccepts: number;
  longestMs: number;
  missedReplays: number;
  unavailable: number;
}

/**
 * Runs two instances while the servers apply batch changes. Counts how often one instance does not know a change
 * that the other instance has already confirmed.
 *
 * @param ports the ports of the instances
 * @param atMost the highest allowed count, or null if the count is only reported
 */
async function measure(
  workspace: Workspace,
  cluster: Cluster,
  run: (sql: string) => Promise<unknown>,
  ports: readonly number[],
  atMost: number | null,
): Promise<Outcome[]> {
  const usernames = Array.from({ length: WORKERS }, (_, index) => `user ${index}`);
  await prepare(cluster, usernames);
  const { urls } = await startInstances({ ...cluster, ports }, {}, workspace);
  const seen: Counts = { staleAccepts: 0, longestMs: 0, missedReplays: 0, unavailable: 0 };
  const work = async (username: string): Promise<void> => {
    for (let round = 0; round < LOGOUTS / WORKERS; round++) await logout(username, urls, seen);
    for (let round = 0; round < REPLAYS / WORKERS; round++) await replay(username, urls, seen);
  };
  await run('CREATE TABLE batch (id INT PRIMARY KEY, n INT NOT NULL)');
  await run(`INSERT INTO batch VALUES ${Array.from({ length: BATCH_ROWS }, (_, id) => `(${id}, 0)`).join(', ')}`);
  let isOver = false;
  const batch = async (): Promise<void> => {
    while (!isOver) await run('UPDATE batch SET n = n + 1');
  };
  await Promise.all([batch(), Promise.all(usernames.map(work)).finally(() => (isOver = true))]);
  const figures = [
    figure('tokens accepted after their logout', seen.staleAccepts, atMost),
    figure('longest time that one was accepted, ms', Math.round(seen.longestMs)),
    figure('undetected reuse', seen.missedReplays, atMost),
    figure('503', seen.unavailable),
  ];
  return [{ subject: `${LOGOUTS} logouts, ${REPLAYS} reused tokens`, figures }];
}

type Urls = readonly [string, string];

/** Logs out at the first instance, and presents the access token to the second. */
async function logout(username: string, [first, second]: Urls, seen: Counts): Promise<void> {
  const session = await login(username, first);
  const { status } = await fetch(`${first}/auth/logout`, jsonRequest({}, session.access_token));
  if (status !== 200) return void seen.unavailable++;
  const at = performance.now();
  let isStale = false;
  while ((await fetch(`${second}/me`, bearer(session.access_token))).status === 200) {
    isStale = true;
    seen.longestMs = Math.max(seen.longestMs, performance.now() - at);
  }
  if (isStale) seen.staleAccepts++;
}

/** Refreshes at the first instance, and presents the same refresh token to the second. */
async function replay(username: string, [first, second]: Urls, seen: Counts): Promise<void> {
  const { refresh_token: token } = await login(username, first);
  const request = jsonRequest({ refresh_token: token });
  const response = await fetch(`${first}/auth/token/refresh`, request);
  if (response.status !== 200) return void seen.unavailable++;
  const pair = (await response.json()) as Session;
  const { status } = await fetch(`${second}/auth/token/refresh`, request);
  if (status === 503) return void seen.unavailable++;
  const me = await fetch(`${first}/me`, bearer(pair.access_token));
  if (me.status !== 401) seen.missedReplays++;
}

async function login(username: string, url: string): Promise<Session> {
  for (;;) {
    const response = await fetch(`${url}/auth/login`, jsonRequest({ username, password: PASSWORD }));
    if (response.status === 200) return (await response.json()) as Session;
    await response.body?.cancel();
    await sleep(200);
  }
}

function onGalera(name: string, syncWait: 0 | 1): Scenario {
  return {
    ...{ name, cluster: 'Galera' },
    title: `instances on two nodes with \`wsrep_sync_wait=${syncWait}\`, during a batch job`,
    async run(workspace) {
      const cluster = await startGalera(workspace, { syncWait });
      const [first, second] = cluster.nodes;
      const batch = (sql: string): Promise<unknown> => first.query(sql, DATABASE);
      return measure(workspace, cluster, batch, [first.port, second.port], syncWait === 1 ? 0 : null);
    },
  };
}

function onPgpool(name: string, isBalancing: boolean): Scenario {
  return {
    ...{ name, cluster: 'PostgreSQL' },
    title: `instances behind Pgpool-II with \`load_balance_mode = ${isBalancing ? 'on' : 'off'}\`, during a batch job`,
    async run(workspace) {
      const cluster = await startPostgres(workspace);
      const batch = (sql: string): Promise<unknown> => cluster.nodes[0].query(sql, DATABASE);
      const port = await startPgpool(workspace, cluster.nodes, isBalancing);
      return measure(workspace, cluster, batch, [port], isBalancing ? null : 0);
    },
  };
}

/** Runs two instances on two servers, and a job that keeps the servers busy applying changes. */
export const READS: readonly Scenario[] = [
  onPgpool('pgpool-causal-reads', false),
  onPgpool('pgpool-stale-reads', true),
  onGalera('galera-causal-reads', 1),
  onGalera('galera-stale-reads', 0),
];
