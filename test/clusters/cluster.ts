import type { AuthModuleOptions } from 'nestjs-session-auth';
import type { DataSourceOptions } from 'typeorm';
import { ServerProcess } from '../crash/server-process';
import type { HaProxy } from './haproxy';
import type { Server } from './server';
import type { Workspace } from './workspace';

export const DATABASE = 'nsa';

export const APPLICATION = 'application';

export interface Cluster<Nodes extends readonly Server[] = readonly Server[]> {
  readonly type: keyof typeof DRIVERS;
  readonly nodes: Nodes;
  readonly haproxy: HaProxy;
  /** The ports that the instances of an application connect to in turn. */
  readonly ports: readonly number[];
  readonly auth?: AuthModuleOptions;
  /** The grace period of instances behind a load balancer, if a failover takes longer than in most clusters. */
  readonly graceSeconds?: number;
}

const DRIVERS = {
  postgres: { protocol: 'postgres', connectTimeoutMS: 2_000, extra: { max: 10 } },
  mariadb: { protocol: 'mysql', connectTimeout: 2_000, extra: { connectionLimit: 10 } },
  mysql: { protocol: 'mysql', connectTimeout: 2_000, extra: { connectionLimit: 10 } },
} as const;

export function optionsOf({ type, ports }: Pick<Cluster, 'type' | 'ports'>, instance = 0): DataSourceOptions {
  const { protocol, ...options } = DRIVERS[type];
  const url = `${protocol}://${APPLICATION}@127.0.0.1:${ports[instance % ports.length]}/${DATABASE}`;
  return { type, url, ...options };
}

export async function startInstances(
  cluster: Cluster,
  options: AuthModuleOptions,
  { teardown }: Workspace,
): Promise<{ readonly servers: readonly ServerProcess[]; readonly urls: readonly [string, string] }> {
  const servers = [0, 1].map((index) =>
    ServerProcess.start(optionsOf(cluster, index), { pruneIntervalSeconds: false, ...cluster.auth, ...options }),
  );
  for (const server of servers) teardown.add(() => server.kill());
  const urls = (await Promise.all(servers.map((server) => server.url()))) as [string, string];
  return { servers, urls };
}
