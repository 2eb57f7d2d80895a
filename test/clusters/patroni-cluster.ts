import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSourceOptions } from 'typeorm';
import { CHANGES_OF_PRIMARY, patroniCheck } from './checks';
import { APPLICATION, DATABASE, type Cluster } from './cluster';
import { Daemon, giveTo, ServerNode } from './daemon';
import { HaProxy } from './haproxy';
import { postgresProgram, queryPostgres } from './postgres-node';
import { freePort, subfolder, type Workspace } from './workspace';

const USER = 'postgres';
const NAMES = ['one', 'two', 'three'] as const;
const ENTRY = 'patroni';
/** The time in which Patroni must have promoted a standby: its `ttl`, and the time for HAProxy to detect it. */
const FAILOVER_MS = 60_000;

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
class PatroniMember extends ServerNode {
  constructor(
    name: string,
    port: number,
    folder: string,
    readonly restPort: number,
  ) {
    super(name, port, folder);
  }

  start(etcdPort: number): void {
    const file = join(this.folder, 'patroni.yml');
    // JSON is also YAML.
    writeFileSync(file, JSON.stringify(this.settings(etcdPort)));
    giveTo(USER, this.folder);
    this.daemon = Daemon.start(this.name, USER, 'patroni', [file], () => this.postmaster());
  }

  private settings(etcdPort: number): object {
    const [address, rest] = [`127.0.0.1:${this.port}`, `127.0.0.1:${this.restPort}`];
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
        bin_dir: postgresProgram('').replace(/\/$/, ''),
        pgpass: join(this.folder, 'pgpass'),
        authentication: { superuser: { username: 'postgres' }, replication: { username: 'postgres' } },
        pg_hba: ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'],
        // Tests kill processes, never the machine. Data that is not flushed to the disk is therefore not lost.
        parameters: { unix_socket_directories: '', shared_buffers: '32MB', fsync: false },
      },
    };
  }

  /** PostgreSQL is not a descendant of Patroni, and continues to run without it. */
  private postmaster(): number[] {
    const file = join(this.folder, 'data/postmaster.pid');
    return existsSync(file) ? [Number.parseInt(readFileSync(file, 'utf8'))] : [];
  }

  /** Asks the REST API of Patroni. Returns the status, or 0 if it does not respond. */
  async status(path: string, init: RequestInit = {}): Promise<number> {
    const url = `http://127.0.0.1:${this.restPort}/${path}`;
    const signal = AbortSignal.timeout(2_000);
    return fetch(url, { signal, ...init }).then(
      ({ status }) => status,
      () => 0,
    );
  }

  query(sql: string): Promise<Record<string, unknown>[]> {
    return queryPostgres(`postgres://postgres@127.0.0.1:${this.port}/postgres`, sql);
  }
}

/** Three members under Patroni, one of which is a synchronous standby, with etcd, and HAProxy, which asks Patroni. */
export class PatroniCluster implements Cluster {
  readonly auth = {};
  /** `ttl`, the deadline for a 503 and its `Retry-After`, and what Patroni and HAProxy need, rounded up. */
  readonly graceSeconds = 60;

  private constructor(
    private readonly members: readonly PatroniMember[],
    private readonly haproxy: HaProxy,
  ) {}

  static async start(workspace: Workspace): Promise<PatroniCluster> {
    const etcdPort = await startEtcd(workspace);
    const members: PatroniMember[] = [];
    for (const name of NAMES) {
      const member = new PatroniMember(name, await freePort(), subfolder(workspace, name), await freePort());
      workspace.teardown.add(() => member.stop());
      members.push(member);
    }
    const [first, ...others] = members as [PatroniMember, ...PatroniMember[]];
    first.start(etcdPort);
    await until(async () => (await first.status('primary')) === 200, 'the first member to become the primary');
    for (const member of others) member.start(etcdPort);
    const entry = {
      name: ENTRY,
      check: { lines: patroniCheck(), servers: CHANGES_OF_PRIMARY },
      servers: members,
      checkPorts: members.map(({ restPort }) => restPort),
      hasBackups: false,
    };
    const haproxy = await HaProxy.start(workspace, [entry]);
    const cluster = new PatroniCluster(members, haproxy);
    for (const member of others) await until(async () => (await member.status('replica')) === 200, member.name);
    await cluster.untilWritable();
    await first.query(`CREATE ROLE ${APPLICATION} LOGIN`);
    await first.query(`CREATE DATABASE ${DATABASE} OWNER ${APPLICATION}`);
    return cluster;
  }

  options(): DataSourceOptions {
    return { type: 'postgres', url: this.url(APPLICATION, DATABASE), connectTimeoutMS: 2_000, extra: { max: 10 } };
  }

  /** Returns the member that Patroni reports as the primary. */
  async primary(): Promise<PatroniMember> {
    for (const member of this.members) if ((await member.status('primary')) === 200) return member;
    throw new Error('Patroni reports no primary.');
  }

  /** Makes the synchronous standby the primary, and the primary a standby. */
  async switchOver(): Promise<void> {
    const leader = await this.primary();
    const body = JSON.stringify({ leader: leader.name });
    const status = await leader.status('switchover', { method: 'POST', body, signal: AbortSignal.timeout(60_000) });
    if (status !== 200) throw new Error(`Patroni refused the switchover with ${status}.`);
  }

  /** Waits until a primary behind HAProxy confirms a commit, and Patroni could promote a synchronous standby. */
  async untilWritable(): Promise<void> {
    const commit = "SELECT pg_logical_emit_message(true, 'nsa', '')";
    await until(
      async () => (await queryPostgres(this.url('postgres', 'postgres'), commit, 5_000)).length > 0,
      'a commit',
    );
    await until(async () => {
      const states = await Promise.all(this.members.map((member) => member.status('synchronous')));
      return states.includes(200);
    }, 'a synchronous standby');
  }

  private url(user: string, database: string): string {
    return `postgres://${user}@127.0.0.1:${this.haproxy.port(ENTRY)}/${database}`;
  }
}

/** Starts etcd with one member, and returns its port. */
async function startEtcd(workspace: Workspace): Promise<number> {
  const [folder, port, peerPort] = [subfolder(workspace, 'etcd'), await freePort(), await freePort()];
  giveTo(USER, folder);
  const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
  const daemon = Daemon.start('etcd', USER, 'etcd', [
    ...['--data-dir', join(folder, 'data'), '--listen-client-urls', client, '--advertise-client-urls', client],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`],
  ]);
  workspace.teardown.add(() => daemon.stop('SIGTERM'));
  await daemon.until(async () => (await fetch(`${client}/health`)).ok);
  return port;
}

async function until(isReached: () => Promise<boolean>, what: string): Promise<void> {
  const end = performance.now() + FAILOVER_MS;
  while (!(await isReached().catch(() => false))) {
    if (performance.now() > end) throw new Error(`Waited ${FAILOVER_MS / 1_000} s for ${what}.`);
    await sleep(100);
  }
}
