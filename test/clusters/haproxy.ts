import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { blocksOf } from '../docs/code-blocks';
import { Server } from './server';
import type { Workspace } from './workspace';

/** The user that HAProxy logs in as. It has no password and no privileges. */
export const CHECK_USER = 'haproxy';

/** The name of a configuration in docs/high-availability.md, or null to check only whether connections are accepted. */
type Configuration = 'postgres' | 'patroni' | 'galera' | 'group' | null;

/** HAProxy, with a port for each list of servers. Frozen, it forwards nothing and refuses nothing. */
export class HaProxy extends Server {
  readonly ports: number[] = [];

  /** @param entries the servers of each port, the preferred one first */
  static async start(workspace: Workspace, name: Configuration, ...entries: (readonly Server[])[]): Promise<HaProxy> {
    const haproxy = new HaProxy(workspace, 'haproxy');
    const file = join(haproxy.folder, 'haproxy.cfg');
    writeFileSync(file, haproxy.configure(name, entries));
    // Until its first check, a server counts as writable.
    const hasChecked = async () => !(await haproxy.command('show stat')).includes(',Initializing,');
    await haproxy.launch('haproxy', ['-db', '-f', file], hasChecked);
    return haproxy;
  }

  /** Disables a server for some time. Its connections close. New connections go to another server, and stay there. */
  async takeOut({ name }: Server, forMs: number): Promise<void> {
    const servers = this.ports.map((_, index) => `entry${index}/${name}`);
    for (const server of servers) {
      await this.command(`set server ${server} state maint; shutdown sessions server ${server}`);
    }
    await sleep(forMs);
    for (const server of servers) await this.command(`set server ${server} state ready`);
  }

  private get socket(): string {
    return join(this.folder, 'admin.sock');
  }

  private async command(line: string): Promise<string> {
    const connection = connect(this.socket);
    connection.write(`${line}\n`);
    return text(connection);
  }

  private configure(name: Configuration, entries: readonly (readonly Server[])[]): string {
    const block = blocksOf('docs/high-availability.md').find(({ code }) => code.startsWith(`listen ${name}\n`))?.code;
    const checks = block?.match(/^ {2}(option|tcp-check|http-check|default-server) .*\n/gm)?.join('');
    const backup = !block || block.includes(' check backup') ? 'backup' : '';
    const sections = entries.map((servers, index) => {
      const port = (this.ports[index] = this.workspace.freePort());
      const lines = servers.map(
        (server, nth) =>
          `  server ${server.name} 127.0.0.1:${server.port} check port ${server.checkPort} ${nth > 0 ? backup : ''}\n`,
      );
      return `listen entry${index}
  bind 127.0.0.1:${port}
${checks ?? '  default-server inter 1s fall 2 rise 1\n'}${lines.join('')}`;
    });
    return `global
  maxconn 2000
  stats socket ${this.socket} mode 600 level admin
defaults
  mode tcp
  timeout connect 2s
  timeout check 2s
  timeout client 1h
  timeout server 1h
${sections.join('')}`;
  }
}
