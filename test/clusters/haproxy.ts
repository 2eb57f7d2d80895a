import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { isListening } from '../../bench/src/application/port';
import { Daemon, giveTo, type ServerNode } from './daemon';
import { freePort, subfolder, type Workspace } from './workspace';

const USER = 'haproxy';

/** An address that HAProxy listens on, and its servers. */
export interface Entry {
  readonly name: string;
  /** How HAProxy checks whether a server accepts writes. Null: only whether it accepts connections. */
  readonly check: { readonly lines: readonly string[]; readonly servers: string } | null;
  readonly servers: readonly ServerNode[];
  /** The ports that HAProxy checks, if they are not those of the servers. */
  readonly checkPorts?: readonly number[];
  /** Whether the servers after the first one receive connections only while no other server is up. */
  readonly hasBackups: boolean;
}

/** HAProxy, with a port for each entry. */
export class HaProxy {
  private constructor(
    /** Frozen, HAProxy forwards nothing and refuses nothing. */
    readonly daemon: Daemon,
    private readonly socket: string,
    private readonly ports: ReadonlyMap<string, number>,
  ) {}

  static async start(workspace: Workspace, entries: readonly Entry[]): Promise<HaProxy> {
    const folder = subfolder(workspace, 'haproxy');
    const file = join(folder, 'haproxy.cfg');
    const socket = join(folder, 'admin.sock');
    const ports = new Map<string, number>();
    for (const { name } of entries) ports.set(name, await freePort());
    writeFileSync(file, configuration(socket, entries, ports));
    giveTo(USER, folder);
    const daemon = Daemon.start('haproxy', USER, 'haproxy', ['-db', '-f', file]);
    workspace.teardown.add(() => daemon.stop('SIGTERM'));
    const haproxy = new HaProxy(daemon, socket, ports);
    for (const port of ports.values()) await daemon.until(() => isListening(port));
    // Until its first check, a server counts as writable.
    await daemon.until(async () => !(await haproxy.command('show stat')).includes(',Initializing,'));
    return haproxy;
  }

  port(entry: string): number {
    return this.ports.get(entry)!;
  }

  /** Sends a command to the Runtime API. */
  private async command(line: string): Promise<string> {
    const connection = connect(this.socket);
    connection.write(`${line}\n`);
    return text(connection);
  }

  /** Disables a server for some time. Its connections close. New connections go to another server, and stay there. */
  async takeOut(entry: string, server: string, forMs: number): Promise<void> {
    await this.command(`set server ${entry}/${server} state maint`);
    await this.command(`shutdown sessions server ${entry}/${server}`);
    await sleep(forMs);
    await this.command(`set server ${entry}/${server} state ready`);
  }
}

function configuration(socket: string, entries: readonly Entry[], ports: ReadonlyMap<string, number>): string {
  return `global
  maxconn 2000
  stats socket ${socket} mode 600 level admin
defaults
  mode tcp
  timeout connect 2s
  timeout check 2s
  timeout client 1h
  timeout server 1h
${entries.map((entry) => listen(entry, ports.get(entry.name)!)).join('')}`;
}

function listen({ name, check, servers, checkPorts, hasBackups }: Entry, port: number): string {
  const lines = [
    `bind 127.0.0.1:${port}`,
    ...(check?.lines ?? []),
    `default-server ${check?.servers ?? 'inter 1s fall 2 rise 1'}`,
    ...servers.map((server, index) => {
      const backup = hasBackups && index > 0 ? ' backup' : '';
      const checked = checkPorts?.[index] ?? server.port;
      return `server ${server.name} 127.0.0.1:${server.port} check port ${checked}${backup}`;
    }),
  ];
  return `listen ${name}\n${lines.map((line) => `  ${line}\n`).join('')}`;
}
