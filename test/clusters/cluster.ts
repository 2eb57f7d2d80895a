import type { AuthModuleOptions } from 'nestjs-session-auth';
import type { DataSourceOptions } from 'typeorm';
import { ServerProcess } from '../crash/server-process';
import type { Workspace } from './workspace';

/** The database that the applications use. */
export const DATABASE = 'nsa';

/** The user that the applications connect as. */
export const APPLICATION = 'application';

/** A database cluster under test. */
export interface Cluster {
  /** The options of the library that the cluster requires. */
  readonly auth: AuthModuleOptions;
  /** The grace period of instances behind a load balancer, if a failover takes longer than in most clusters. */
  readonly graceSeconds?: number;
  /** Returns the connection options of the instance with this index. */
  options(instance: number): DataSourceOptions;
}

/** Starts two instances of an application on the cluster. Returns them with their URLs. */
export async function startInstances(
  cluster: Cluster,
  options: AuthModuleOptions,
  { teardown }: Workspace,
): Promise<{ readonly servers: readonly ServerProcess[]; readonly urls: readonly [string, string] }> {
  const servers = [0, 1].map((index) =>
    ServerProcess.start(cluster.options(index), { pruneIntervalSeconds: false, ...cluster.auth, ...options }),
  );
  for (const server of servers) teardown.add(() => server.kill());
  const urls = (await Promise.all(servers.map((server) => server.url()))) as [string, string];
  return { servers, urls };
}
