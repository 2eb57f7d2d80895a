import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, isListening } from '../support/port';

const START_MS = 10_000;

/** A PgBouncer in front of one database, in transaction mode, on loopback. */
export interface PgBouncer {
  readonly url: string;
  stop(): Promise<void>;
}

export function hasPgBouncer(): boolean {
  return spawnSync('pgbouncer', ['--version'], { stdio: 'ignore' }).status === 0;
}

/**
 * Starts PgBouncer in front of a database.
 * @param databaseUrl the URL of the database. With the path `*`, PgBouncer serves all databases of the server
 * @param settings additional lines for `pgbouncer.ini`
 */
export async function startPgBouncer(databaseUrl: string, settings: readonly string[] = []): Promise<PgBouncer> {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const listenPort = await freePort();
  const name = pathname.slice(1);
  const folder = mkdtempSync(join(tmpdir(), 'nsa-pgbouncer-'));
  // Another user must be able to read the folder, because PgBouncer refuses to run as root.
  chmodSync(folder, 0o755);
  const file = join(folder, 'pgbouncer.ini');
  const database = name === '*' ? '' : ` dbname=${name}`;
  const secret = password ? ` password=${decodeURIComponent(password)}` : '';
  writeFileSync(
    file,
    `[databases]
${name} = host=${hostname} port=${port || 5432}${database} user=${decodeURIComponent(username)}${secret}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 20
max_client_conn = 500
ignore_startup_parameters = extra_float_digits
log_connections = 0
log_disconnections = 0
${settings.join('\n')}
`,
  );
  const asNobody = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const child = spawn('pgbouncer', [...asNobody, file], { stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => (output = (output + String(chunk)).slice(-4_000)));
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    }
    rmSync(folder, { recursive: true, force: true });
  };
  const until = performance.now() + START_MS;
  while (!(await isListening(listenPort))) {
    if (child.exitCode !== null || performance.now() > until) {
      await stop();
      throw new Error(`PgBouncer did not start within ${START_MS / 1000} s: ${output}`);
    }
    await sleep(50);
  }
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String(listenPort);
  return { url: url.href, stop };
}
