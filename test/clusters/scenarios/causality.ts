import { setTimeout as sleep } from 'node:timers/promises';
import { ServerProcess } from '../../crash/server-process';
import { bearer, jsonRequest } from '../../crash/patient-request';
import { GaleraCluster } from '../galera-cluster';
import { figure, type Scenario } from '../scenario';
import { PASSWORD } from '../storm-clients';
import { prepare } from '../tables';

const LOGOUTS = 100;
const REPLAYS = 200;
/** Each has a user of its own. */
const WORKERS = 4;
/** A batch job changes so many rows in one transaction, which the other nodes then apply. */
const BATCH_ROWS = 30_000;

interface Seen {
  staleAccepts: number;
  longestMs: number;
  missedReplays: number;
  unavailable: number;
}

/** Two instances on two nodes: what one of them has answered, the other must know, whatever the nodes have to apply. */
function reads(name: string, title: string, syncWait: 0 | 1): Scenario {
  return {
    ...{ name, title, cluster: 'Galera' },
    async run(workplace) {
      const cluster = await GaleraCluster.start(workplace, { syncWait, hasNoProxy: true });
      const usernames = Array.from({ length: WORKERS }, (_, index) => `user ${index}`);
      await prepare(cluster.options(0), usernames);
      const servers = [0, 1].map((index) =>
        ServerProcess.start(cluster.options(index), { pruneIntervalSeconds: false }),
      );
      for (const server of servers) workplace.teardown.add(() => server.kill());
      const [first, second] = (await Promise.all(servers.map((server) => server.url()))) as [string, string];
      const batch = new Batch(cluster);
      await batch.start();
      const seen: Seen = { staleAccepts: 0, longestMs: 0, missedReplays: 0, unavailable: 0 };
      const work = async (username: string): Promise<void> => {
        for (let round = 0; round < LOGOUTS / WORKERS; round++) await logout(username, first, second, seen);
        for (let round = 0; round < REPLAYS / WORKERS; round++) await replay(username, first, second, seen);
      };
      await Promise.all(usernames.map(work));
      await batch.stop();
      const atMost = syncWait === 1 ? 0 : null;
      return [
        {
          subject: `${LOGOUTS} logouts, ${REPLAYS} replays`,
          figures: [
            figure('tokens accepted after their logout', seen.staleAccepts, atMost),
            figure('for at most, ms', Math.round(seen.longestMs), null),
            figure('missed replays', seen.missedReplays, atMost),
            figure('503', seen.unavailable, null),
          ],
          details: [],
        },
      ];
    },
  };
}

interface Session {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** Logs out at the first instance, and tries the access token at the second. */
async function logout(username: string, first: string, second: string, seen: Seen): Promise<void> {
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

/** Refreshes at the first instance, and presents the same token to the second. */
async function replay(username: string, first: string, second: string, seen: Seen): Promise<void> {
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

/** A job of the application that changes many rows at a time, on the node of the first instance. */
class Batch {
  private isStopped = false;
  private running: Promise<void> | undefined;

  constructor(private readonly cluster: GaleraCluster) {}

  async start(): Promise<void> {
    const [node] = this.cluster.nodes;
    await node.query(`CREATE TABLE ${TABLE} (id INT PRIMARY KEY, n INT NOT NULL)`);
    await node.query(`INSERT INTO ${TABLE} SELECT seq, 0 FROM seq_1_to_${BATCH_ROWS}`);
    this.running = this.run();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.running;
  }

  private async run(): Promise<void> {
    const [node] = this.cluster.nodes;
    while (!this.isStopped) await node.query(`UPDATE ${TABLE} SET n = n + 1`);
  }
}

const TABLE = 'nsa.batch';

export const READS: readonly Scenario[] = [
  reads('galera-causal-reads', 'instances on two nodes beside a batch job, `wsrep_sync_wait=1`', 1),
  reads('galera-stale-reads', 'the same with `wsrep_sync_wait=0`, the default of Galera', 0),
];
