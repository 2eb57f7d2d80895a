import { AUTH_ENTITIES, type AuthModuleOptions } from 'nestjs-session-auth';
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { SystemClock } from '../../libs/auth/src/adapters/system-clock';
import { Instance } from '../properties/instance';
import { createDatabase, DATABASES, type TestDatabase } from '../support/databases';
import { fateOf, takeSnapshot, violations } from './checker';
import { ServerProcess } from './server-process';
import { storm, StormClient } from './storm';

const CLIENTS = 16;
/** Fifty in the gate. */
const KILLS = process.env['CI'] ? 50 : 10;

/** Whether the servers that were killed have left a transaction that is still being ended. */
const OPEN_TRANSACTIONS = {
  postgres: `SELECT 1 FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL`,
  mariadb: `SELECT 1 FROM information_schema.innodb_trx t
    JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id
    WHERE p.db = DATABASE() AND p.id <> CONNECTION_ID()`,
} as const;

describe.each(DATABASES)('kill -9 in the middle of a storm of refreshes on %s', (name) => {
  let database: TestDatabase;
  let observer: DataSource;
  let own: Instance;
  const servers: ServerProcess[] = [];

  beforeAll(async () => {
    database = await createDatabase(name);
    observer = await new DataSource({
      ...database.options,
      entities: [...AUTH_ENTITIES],
      synchronize: true,
    }).initialize();
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

  async function newClient(): Promise<StormClient> {
    const { id } = await own.auth.createUser({ username: `user ${Math.random()}`, password: null });
    const { sessionId, refreshToken } = await own.auth.openSession(id);
    return new StormClient(sessionId, refreshToken);
  }

  /** A transaction of the dead either commits or is rolled back; both show when none is left. */
  async function settled(): Promise<void> {
    if (name === 'sqlite') return;
    let open: unknown[];
    do {
      open = await observer.query(OPEN_TRANSACTIONS[name]);
      if (open.length > 0) await sleep(110);
    } while (open.length > 0);
  }

  /** Storms, kills after some answers, and checks what is left, as often as it is told to. */
  async function killing(
    times: number,
    options: AuthModuleOptions,
  ): Promise<{ clients: StormClient[]; lost: number; done: number }> {
    const clients = await Promise.all(Array.from({ length: CLIENTS }, newClient));
    let server = start(options);
    const total = { lost: 0, done: 0 };
    for (let kill = 0; kill < times; kill++) {
      const url = await server.url();
      // The next one is ready when this one is gone.
      const next = start(options);
      await next.url();
      let left = randomInt(1, 120);
      const doomed = server;
      const statuses = new Set<number>();
      await storm(clients, url, (status) => {
        statuses.add(status);
        if (--left === 0) void doomed.kill();
      });
      await doomed.kill();
      expect([...statuses]).toEqual([200]);
      await settled();
      const snapshot = await takeSnapshot(observer);
      expect(violations(snapshot, clients)).toEqual([]);
      for (const [index, client] of clients.entries()) {
        if (!client.isInFlight) continue;
        total.lost++;
        const session = snapshot.sessions.find(({ id }) => id === client.sessionId)!;
        const retired = snapshot.tokens.filter(({ sessionId }) => sessionId === client.sessionId);
        const isDone = fateOf(session, retired, client) === 'new';
        if (isDone) total.done++;
        // Strict: whoever does not know whether the token was used must not present it again.
        if (isDone && !options.refreshReuseGraceSeconds) clients[index] = await newClient();
        else client.isInFlight = false;
      }
      server = next;
    }
    const url = await server.url();
    expect(await Promise.all(clients.map((client) => client.refresh(url)))).toEqual(Array<number>(CLIENTS).fill(200));
    await server.kill();
    const reuse = await observer.query("SELECT id FROM auth_events WHERE event = 'token_reuse'");
    expect(reuse).toEqual([]);
    return { clients, ...total };
  }

  it(`${KILLS} times: each refresh is done or not done, no session is lost, and the next server goes on`, async () => {
    const { lost, done } = await killing(KILLS, {});
    // The kills met refreshes on their way, and some of them behind their COMMIT.
    expect(lost).toBeGreaterThan(KILLS);
    expect(done).toBeGreaterThan(0);
  }, 200_000);

  it('10 times within a grace period: whoever lost an answer asks again and has it', async () => {
    const { lost } = await killing(10, { refreshReuseGraceSeconds: 60 });
    expect(lost).toBeGreaterThan(10);
  }, 100_000);
});
