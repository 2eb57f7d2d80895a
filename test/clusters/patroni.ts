import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { APPLICATION, DATABASE, type Cluster } from './cluster';
import { HaProxy } from './haproxy';
import { postgresUrl } from './postgres';
import { query, Server } from './server';
import type { Workspace } from './workspace';

/** The settings of all members, which etcd stores. 20 is the lowest `ttl` that Patroni accepts. */
const SHARED = {
  ttl: 20,
  loop_wait: 2,
  retry_timeout: 5,
  synchronous_mode: true,
  synchronous_mode_strict: true,
  postgresql: { parameters: { max_connections: 300 } },
};

/** A PostgreSQL server and the Patroni that runs it. */
export class PatroniMember extends Server {
  override readonly checkPort = this.workspace.freePort();

  async start(etcdPort: number, role: 'primary' | 'replica'): Promise<void> {
    const file = join(this.folder, 'patroni.yml');
    // JSON is also YAML.
    writeFileSync(file, JSON.stringify(this.settings(etcdPort)));
    await this.launch('patroni', [file], () => this.is(role));
  }

  private settings(etcdPort: number): object {
    const [address, rest] = [`127.0.0.1:${this.port}`, `127.0.0.1:${this.checkPort}`];
    return {
      scope: 'nsa',
      name: this.name,
      restapi: { listen: rest, connect_address: rest },
      etcd3: { hosts: [`127.0.0.1:${etcdPort}`] },
      bootstrap: { dcs: SHARED, initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'no-sync'] },
      postgresql: {
        listen: address,
        connect_address: address,
        data_dir: join(this.folder, 'data'),
        pgpass: join(this.folder, 'pgpass'),
        authentication: { superuser: { username: 'postgres' }, replication: { username: 'postgres' } },
        pg_hba: ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'],
        // Tests kill processes, never the machine. Data that is not flushed to the disk is therefore not lost.
        parameters: { unix_socket_directories: '', shared_buffers: '32MB', fsync: false },
      },
    };
  }

  async is(role: 'primary' | 'replica' | 'synchronous'): Promise<boolean> {
    const response = await this.ask(role, { signal: AbortSignal.timeout(2_000) }).catch(() => null);
    return response?.status === 200;
  }

  /** Makes the synchronous standby the primary, and this primary a standby. */
  async switchOver(): Promise<void> {
    const { status } = await this.ask('switchover', { method: 'POST', body: JSON.stringify({ leader: this.name }) });
    if (status !== 200) throw new Error(`Patroni refused the switchover with ${status}.`);
  }

  private ask(path: string, init: RequestInit): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.checkPort}/${path}`, init);
  }
}

export type PatroniCluster = Cluster<readonly PatroniMember[]>;

/** Starts etcd, three members under Patroni, one of which is a synchronous standby, and HAProxy, which asks Patroni. */
export async function startPatroni(workspace: Workspace): Promise<PatroniCluster> {
  const etcdPort = await startEtcd(workspace);
  const nodes = ['one', 'two', 'three'].map((name) => new PatroniMember(workspace, name));
  const [first, ...others] = nodes;
  await first!.start(etcdPort, 'primary');
  await Promise.all(others.map((other) => other.start(etcdPort, 'replica')));
  const haproxy = await HaProxy.start(workspace, 'patroni', nodes);
  // `ttl`, the deadline for a 503 and its `Retry-After`, and what Patroni and HAProxy need, rounded up.
  const cluster = { type: 'postgres', nodes, haproxy, ports: haproxy.ports, graceSeconds: 60 } as const;
  await untilWritable(cluster);
  await query(postgresUrl(first!.port), `CREATE ROLE ${APPLICATION} LOGIN`);
  await query(postgresUrl(first!.port), `CREATE DATABASE ${DATABASE} OWNER ${APPLICATION}`);
  return cluster;
}

export async function primaryOf({ nodes }: PatroniCluster): Promise<PatroniMember> {
  for (const member of nodes) if (await member.is('primary')) return member;
  throw new Error('Patroni reports no primary.');
}

/** Waits until a primary behind HAProxy confirms a commit, and Patroni could promote a synchronous standby. */
export async function untilWritable({ nodes, haproxy }: PatroniCluster): Promise<void> {
  const commit = "SELECT pg_logical_emit_message(true, 'nsa', '')";
  await haproxy.until(async () => (await query(postgresUrl(haproxy.ports[0]!), commit)).length > 0);
  await haproxy.until(async () => (await Promise.all(nodes.map((node) => node.is('synchronous')))).includes(true));
}

async function startEtcd(workspace: Workspace): Promise<number> {
  const etcd = new Server(workspace, 'etcd');
  const [client, peer] = [`http://127.0.0.1:${etcd.port}`, `http://127.0.0.1:${workspace.freePort()}`];
  const settings = [
    ...['--data-dir', join(etcd.folder, 'data'), '--listen-client-urls', client, '--advertise-client-urls', client],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`],
  ];
  await etcd.launch('etcd', settings, async () => (await fetch(`${client}/health`)).ok);
  return etcd.port;
}
