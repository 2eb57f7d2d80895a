import type { DataSourceOptions } from 'typeorm';
import { CHANGES_OF_NODES, CHECK_USER, galeraCheck } from './checks';
import { APPLICATION, DATABASE, type Cluster } from './cluster';
import { GaleraNode } from './galera-node';
import { HaProxy } from './haproxy';
import type { Workspace } from './workspace';

export interface GaleraSetup {
  /** `wsrep_sync_wait` of the nodes. With 1, a read waits until the node has applied earlier commits. */
  readonly syncWait?: 0 | 1;
  /**
   * If true, HAProxy does not check the states of nodes. It switches to another node while a node is unreachable,
   * and keeps the connections to the other node.
   */
  readonly ignoresStates?: boolean;
  /** If true, the instances connect to their nodes directly. */
  readonly hasNoProxy?: boolean;
}

type Nodes = readonly [GaleraNode, GaleraNode, GaleraNode];

const NAMES = ['one', 'two', 'three'] as const;
const ENTRIES = ['first', 'second'] as const;

/**
 * Three writable nodes, and HAProxy with an entry for each of the first two nodes. An entry switches to another
 * node if its own node is down.
 */
export class GaleraCluster implements Cluster {
  readonly auth = {};

  private constructor(
    readonly nodes: Nodes,
    readonly haproxy: HaProxy,
    private readonly setup: GaleraSetup,
  ) {}

  static async start(workspace: Workspace, setup: GaleraSetup): Promise<GaleraCluster> {
    const created = [];
    for (const name of NAMES) created.push(await GaleraNode.create(name, workspace, setup.syncWait ?? 1));
    const nodes = created as unknown as Nodes;
    const [first, second, third] = nodes;
    await first.install();
    await first.start([]);
    await first.query(`CREATE USER ${CHECK_USER}@'%'`);
    await first.query(`CREATE USER ${APPLICATION}@'%'`);
    await first.query(`CREATE DATABASE ${DATABASE}`);
    await first.query(`GRANT ALL ON ${DATABASE}.* TO ${APPLICATION}@'%'`);
    await first.stop();
    for (const node of [second, third]) node.copyFrom(first);
    await first.start([]);
    await Promise.all([second.start([first]), third.start([first])]);
    await first.untilSize(3);
    // Without a check of states, both entries lead to the first node, and to the second node while the first
    // node is down.
    const other: Nodes = setup.ignoresStates ? nodes : [second, third, first];
    const check = setup.ignoresStates ? null : { lines: galeraCheck(), servers: CHANGES_OF_NODES };
    const entries = [nodes, other].map((servers, index) => {
      return { name: ENTRIES[index as 0 | 1], check, servers, hasBackups: true };
    });
    return new GaleraCluster(nodes, await HaProxy.start(workspace, entries), setup);
  }

  options(instance: number): DataSourceOptions {
    const index = (instance % 2) as 0 | 1;
    const port = this.setup.hasNoProxy ? this.nodes[index].port : this.haproxy.port(ENTRIES[index]);
    const url = `mysql://${APPLICATION}@127.0.0.1:${port}/${DATABASE}`;
    return { type: 'mariadb', url, connectTimeout: 2_000, extra: { connectionLimit: 10 } };
  }

  /** Disables the first node in HAProxy for some time, which closes its connections. */
  async flap(forMs: number): Promise<void> {
    const [first] = this.nodes;
    await Promise.all(ENTRIES.map((name) => this.haproxy.takeOut(name, first.name, forMs)));
  }
}
