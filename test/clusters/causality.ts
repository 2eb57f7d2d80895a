import { setTimeout as sleep } from 'node:timers/promises';
import { bearer, jsonRequest } from '../crash/request-with-retries';
import type { DataSourceOptions } from 'typeorm';
import { startInstances, type Cluster } from './cluster';
import { figure, type Outcome } from './scenario';
import { PASSWORD, type Session } from './storm-clients';
import { prepare } from './tables';
import type { Workspace } from './workspace';

/** A connection to the primary or to one of the nodes that bypasses the component under test. */
export interface DirectConnection {
  readonly administration: DataSourceOptions;
  run(sql: string): Promise<unknown>;
  /** Returns a query that yields this many pairs of a number and 0. */
  rows(count: number): string;
}

const LOGOUTS = 100;
const REPLAYS = 200;
/** Each worker has its own user. */
const WORKERS = 4;
/** The number of rows that a batch job changes in one transaction, which the other servers then apply. */
const BATCH_ROWS = 30_000;

const TABLE = 'batch';

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
 * @param atMost the highest allowed count, or null if the count is only reported
 */
export async function measureCausality(
  workspace: Workspace,
  cluster: Cluster,
  { administration, run, rows }: DirectConnection,
  atMost: number | null,
): Promise<Outcome[]> {
  const usernames = Array.from({ length: WORKERS }, (_, index) => `user ${index}`);
  await prepare(administration, usernames);
  const { urls } = await startInstances(cluster, {}, workspace);
  const seen: Counts = { staleAccepts: 0, longestMs: 0, missedReplays: 0, unavailable: 0 };
  const work = async (username: string): Promise<void> => {
    for (let round = 0; round < LOGOUTS / WORKERS; round++) await logout(username, urls, seen);
    for (let round = 0; round < REPLAYS / WORKERS; round++) await replay(username, urls, seen);
  };
  await run(`CREATE TABLE ${TABLE} (id INT PRIMARY KEY, n INT NOT NULL)`);
  await run(`INSERT INTO ${TABLE} ${rows(BATCH_ROWS)}`);
  let isOver = false;
  const batch = async (): Promise<void> => {
    while (!isOver) await run(`UPDATE ${TABLE} SET n = n + 1`);
  };
  await Promise.all([batch(), Promise.all(usernames.map(work)).finally(() => (isOver = true))]);
  const figures = [
    figure('tokens accepted after their logout', seen.staleAccepts, atMost),
    figure('longest time that one was accepted, ms', Math.round(seen.longestMs), null),
    figure('undetected reuse', seen.missedReplays, atMost),
    figure('503', seen.unavailable, null),
  ];
  return [{ subject: `${LOGOUTS} logouts, ${REPLAYS} reused tokens`, figures, details: [] }];
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
