import { AUTH_ENTITIES } from 'nestjs-session-auth';
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { DataSource } from 'typeorm';
import { SystemClock } from '../../libs/auth/src/base/clock';
import { Instance } from '../properties/instance';
import { createDatabase } from '../support/databases';
import { takeSnapshot, violations } from './checker';
import { ServerProcess } from './server-process';
import { SoakClient, Tally } from './soak-client';

const PASSWORD = 'correct horse battery staple';

/** The checker needs a complete log, and clients repeat requests whose response was lost. */
const OPTIONS = { refreshReuseGraceSeconds: 30, pruneIntervalSeconds: 60, history: { maxRowsPerUser: 10_000_000 } };

/** Runs two instances on one PostgreSQL at full load, and kills one of them every few seconds. */
async function main(): Promise<boolean> {
  const { values } = parseArgs({ options: { minutes: { type: 'string' }, clients: { type: 'string' } } });
  const minutes = Number(values.minutes ?? 10);
  const clients = Number(values.clients ?? 32);
  const database = await createDatabase('postgres');
  const tables = { entities: [...AUTH_ENTITIES], synchronize: true };
  const dataSource = await new DataSource({ ...database.options, ...tables }).initialize();
  const start = (): ServerProcess => ServerProcess.start(database.options, OPTIONS);
  const servers = [start(), start()];
  let hasEnded = false;
  try {
    const urls = await Promise.all(servers.map((server) => server.url()));
    const own = await Instance.create(dataSource, new SystemClock(), {}, []);
    const names = Array.from({ length: clients }, (_, index) => `user ${index}`);
    for (const username of names) await own.auth.createUser({ username, password: PASSWORD });

    const until = Date.now() + minutes * 60_000;
    const tally = new Tally();
    const counts = { kills: 0, connectionsCut: 0 };
    /** Repeats work after random pauses until the end of the test. */
    const repeat = async (pauseMs: readonly [number, number], work: () => Promise<void>): Promise<void> => {
      while (!hasEnded) {
        await sleep(Math.min(randomInt(...pauseMs), Math.max(0, until - Date.now())));
        if (Date.now() >= until) return;
        await work();
      }
    };
    const killOne = async (): Promise<void> => {
      const victim = randomInt(2);
      await servers[victim]!.kill();
      counts.kills++;
      servers[victim] = start();
      urls[victim] = await servers[victim].url();
    };
    const cutSome = async (): Promise<void> => {
      const others = 'datname = current_database() AND pid <> pg_backend_pid()';
      const cut: unknown[] = await dataSource.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${others} AND random() < 0.3`,
      );
      counts.connectionsCut += cut.length;
    };
    const run = names.map((username) => new SoakClient({ username, password: PASSWORD }, urls, tally).run(until));
    await Promise.all([...run, repeat([5_000, 15_000], killOne), repeat([3_000, 10_000], cutSome)]);
    hasEnded = true;
    for (const server of servers) await server.kill();
    const snapshot = await takeSnapshot(dataSource);
    const found = violations(snapshot);
    const reuse: unknown[] = await dataSource.query("SELECT id FROM auth_events WHERE event = 'token_reuse'");
    const requests = Object.values(tally.statuses).reduce((sum, count) => sum + count, 0);
    const problems = [...tally.wronglyEnded, ...tally.unexpected, ...found];
    const report = {
      ...{ minutes, clients, ...counts, requests, requestsPerSecond: Math.round(requests / (minutes * 60)) },
      ...{ unanswered: tally.unanswered, statuses: tally.statuses, sessions: snapshot.sessions.length },
      refreshes: snapshot.sessions.reduce((sum, { generation }) => sum + generation, 0),
      wronglyEnded: tally.wronglyEnded.length,
      reuseDetected: reuse.length,
      unexpected: tally.unexpected.length,
      violations: found.length,
      details: problems.slice(0, 20),
    };
    console.log(JSON.stringify(report, null, 2));
    return problems.length + reuse.length === 0;
  } finally {
    hasEnded = true;
    for (const server of servers) await server.kill();
    await dataSource.destroy();
    await database.drop();
  }
}

main().then(
  (good) => process.exit(good ? 0 : 1),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
