import type { AuthModuleOptions } from 'nestjs-session-auth';
import type { DataSourceOptions } from 'typeorm';
import { ServerProcess } from '../crash/server-process';
import type { HaProxy } from './haproxy';
import type { Server } from './server';
import type { Workspace } from './workspace';

export const DATABASE = 'nsa';

export const APPLICATION = 'application';

export interface Cluster<Nodes extends readonly Server[] = readonly Server[]> {
  readonly type: 'postgres' | 'mariadb' | 'mysql';
  readonly nodes: Nodes;
  readonly haproxy: HaProxy;
  /** The ports that the instances of an application connect to in turn. */
  readonly ports: readonly number[];
  readonly auth?: AuthModuleOptions;
  /** The grace period of instances behind a load balancer, if a failover takes longer than in most clusters. */
  readonly graceSeconds?: number;
}

export function optionsOf({ type, ports }: Pick<Cluster, 'type' | 'ports'>, instance = 0): DataSourceOptions {
  const address = `${APPLICATION}@127.0.0.1:${ports[instance % ports.length]}/${DATABASE}`;
  return type === 'postgres'
    ? { type, url: `postgres://${address}`, connectTimeoutMS: 2_000, extra: { max: 10 } }
    : { type, url: `mysql://${address}`, connectTimeout: 2_000, extra: { connectionLimit: 10 } };
}

export async function startInstances(cluster: Cluster, options: AuthModuleOptions, { teardown }: Workspace) {
  const servers = [0, 1].map((index) =>
    ServerProcess.start(optionsOf(cluster, index), { pruneIntervalSeconds: false, ...cluster.auth, ...options }),
  );
  for (const server of servers) teardown.add(() => server.kill());
  return { servers, urls: (await Promise.all(servers.map((server) => server.url()))) as [string, string] };
}
