import { measureCausality } from '../causality';
import { APPLICATION, DATABASE } from '../cluster';
import { GaleraCluster } from '../galera-cluster';
import { startPgpool } from '../pgpool';
import { PostgresCluster } from '../postgres-cluster';
import type { Scenario } from '../scenario';

function onGalera(name: string, title: string, syncWait: 0 | 1): Scenario {
  return {
    ...{ name, title, cluster: 'Galera' },
    async run(workspace) {
      const cluster = await GaleraCluster.start(workspace, { syncWait, hasNoProxy: true });
      const direct = {
        administration: cluster.options(0),
        run: (sql: string) => cluster.nodes[0].query(sql, DATABASE),
        rows: (count: number) => `SELECT seq, 0 FROM seq_1_to_${count}`,
      };
      return measureCausality(workspace, cluster, direct, syncWait === 1 ? 0 : null);
    },
  };
}

function onPgpool(name: string, title: string, isBalancing: boolean): Scenario {
  return {
    ...{ name, title, cluster: 'PostgreSQL' },
    async run(workspace) {
      const cluster = await PostgresCluster.start(workspace, {});
      const port = await startPgpool(workspace, [cluster.primary, cluster.standby], isBalancing);
      const url = `postgres://${APPLICATION}@127.0.0.1:${port}/${DATABASE}`;
      const throughPgpool = { auth: cluster.auth, options: () => ({ ...cluster.options(), url }) };
      const direct = {
        administration: cluster.options(),
        run: (sql: string) => cluster.primary.query(sql, DATABASE),
        rows: (count: number) => `SELECT n, 0 FROM generate_series(1, ${count}) n`,
      };
      return measureCausality(workspace, throughPgpool, direct, isBalancing ? null : 0);
    },
  };
}

/** Runs two instances on two servers, and a job that keeps the servers busy applying changes. */
export const READS: readonly Scenario[] = [
  onPgpool(
    'pgpool-causal-reads',
    'instances behind Pgpool-II with `load_balance_mode = off`, during a batch job',
    false,
  ),
  onPgpool('pgpool-stale-reads', 'instances behind Pgpool-II with `load_balance_mode = on`, during a batch job', true),
  onGalera('galera-causal-reads', 'instances on two nodes with `wsrep_sync_wait=1`, during a batch job', 1),
  onGalera('galera-stale-reads', 'instances on two nodes with `wsrep_sync_wait=0`, during a batch job', 0),
];
