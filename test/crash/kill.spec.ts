import { AUTH_ENTITIES, type AuthModuleOptions } from 'nestjs-session-auth';
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { SystemClock } from '../../libs/auth/src/base/clock';
import { Instance } from '../properties/instance';
import { createDatabase, DATABASES, DIALECTS, type TestDatabase } from '../support/databases';
import { type Holder, outcomeOf, takeSnapshot, violations } from './checker';
import { jsonRequest } from './request-with-retries';
import { ServerProcess } from './server-process';

const CLIENTS = 16;
/** The number of kills, each of which needs the start of another server. `npm run ci:full` makes more. */
const KILLS = process.env['CI_FULL'] ? 25 : 10;

/** Finds transactions of killed servers that the database has not ended yet. */
const OPEN_TRANSACTIONS = {
  postgres: `SELECT 1 FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL`,
  mysql: `SELECT 1 FROM information_schema.innodb_trx t
    JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id
    WHERE p.db = DATABASE() AND p.id <> CONNECTION_ID()`,
} as const;

/** A client with one session. */
type Client = { -readonly [Name in keyof Holder]: Holder[Name] };

/** Refreshes, and returns the status, or null without a response. */
async function refresh(client: Client, url: string): Promise<number | null> {
  client.isInFlight = true;
  try {
    const response = await fetch(`${url}/auth/token/refresh`, jsonRequest({ refresh_token: client.refreshToken }));
    const body = (await response.json()) as { access_token?: string; refresh_token?: string };
    client.accessToken = body.access_token ?? client.accessToken;
    client.refreshToken = body.refresh_token ?? client.refreshToken;
    client.isInFlight = false;
    return response.status;
  } catch {
    return null;
  }
}

describe.each(DATABASES)('kill -9 under a load of parallel refreshes on %s', (name) => {
  let database: TestDatabase;
  let observer: DataSource;
  let own: Instance;
  const servers: ServerProcess[] = [];

  beforeAll(async () => {
    database = await createDatabase(name);
    const tables = { entities: [...AUTH_ENTITIES], synchronize: true };
    observer = await new DataSource({ ...database.options, ...tables }).initialize();
    own = await Instance.create(observer, new SystemClock(), {}, []);
  });
  afterAll(async () => {
    for (const server of servers) await server.kill();
    await observer.destroy();
    await database.drop();
  });

  const start = (options: AuthModuleOptions): ServerProcess => {
    const server = ServerProcess.start(database.options, { pruneIntervalSeconds: false, ...options });
    servers.push(server);
    return server;
  };

  async function newClient(): Promise<Client> {
    const { id } = await own.auth.createUser({ username: `user ${Math.random()}`, password: null });
    return { ...(await own.auth.openSession(id)), isInFlight: false };
  }

  /** Waits until every transaction of a killed server is committed or rolled back. */
  async function settled(): Promise<void> {
    if (name === 'sqlite') return;
    const sql = OPEN_TRANSACTIONS[DIALECTS[name]];
    while ((await observer.query<unknown[]>(sql)).length > 0) await sleep(110);
  }

  /**
   * Repeatedly kills the server after a random number of responses, and checks the tables.
   *
   * @param mostTimes the maximum number of kills, if none of the first `times` kills came between a COMMIT and
   * its response
   */
  async function killRepeatedly(
    times: number,
    options: AuthModuleOptions,
    mostTimes = times,
  ): Promise<{ lost: number; done: number }> {
    const clients = await Promise.all(Array.from({ length: CLIENTS }, newClient));
    let server = start(options);
    let [lost, done] = [0, 0];
    for (let kill = 0; kill < times || (done === 0 && kill < mostTimes); kill++) {
      const url = await server.url();
      // Start the next server before this one is killed.
      const next = start(options);
      await next.url();
      let left = randomInt(1, 120);
      const victim = server;
      const statuses = new Set<number>();
      const storm = async (client: Client): Promise<void> => {
        for (let status: number | null = 200; status === 200;) {
          status = await refresh(client, url);
          if (status === null) return;
          statuses.add(status);
          if (--left === 0) void victim.kill();
        }
      };
      await Promise.all(clients.map(storm));
      await victim.kill();
      expect([...statuses]).toEqual([200]);
      await settled();
      const snapshot = await takeSnapshot(observer);
      expect(violations(snapshot, clients)).toEqual([]);
      for (const [index, client] of clients.entries()) {
        if (!client.isInFlight) continue;
        lost++;
        const session = snapshot.sessions.find(({ id }) => id === client.sessionId)!;
        const isDone = outcomeOf(session, client) === 'new';
        if (isDone) done++;
        // Without a grace period a client that does not know whether its token was used must log in again.
        if (isDone && !options.refreshReuseGraceSeconds) clients[index] = await newClient();
        else client.isInFlight = false;
      }
      server = next;
    }
    const url = await server.url();
    expect(await Promise.all(clients.map((client) => refresh(client, url)))).toEqual(Array<number>(CLIENTS).fill(200));
    await server.kill();
    const reuse = await observer.query("SELECT id FROM auth_events WHERE event = 'token_reuse'");
    expect(reuse).toEqual([]);
    return { lost, done };
  }

  it(`after each of ${KILLS} kills every refresh is complete or has no effect, no session ends, and the next server continues`, async () => {
    const { lost, done } = await killRepeatedly(KILLS, {}, 100);
    // The kills interrupted refreshes, some of them after COMMIT.
    expect(lost).toBeGreaterThan(KILLS);
    expect(done).toBeGreaterThan(0);
  }, 600_000);

  it('after each of 10 kills within a grace period a client repeats the refresh whose response was lost, and receives the pair', async () => {
    const { lost } = await killRepeatedly(10, { refreshReuseGraceSeconds: 60 });
    expect(lost).toBeGreaterThan(10);
  }, 300_000);
});
