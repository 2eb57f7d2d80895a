import { measureCausality } from '../causality';
import { APPLICATION, DATABASE } from '../cluster';
import { GaleraCluster } from '../galera-cluster';
import { startPgpool } from '../pgpool';
import { PostgresCluster } from '../postgres-cluster';
import type { Scenario } from '../scenario';

function onGalera(name: string, title: string, syncWait: 0 | 1): Scenario {
  return {
    ...{ name, title, cluster: 'Galera' },
    async run(workplace) {
      const cluster = await GaleraCluster.start(workplace, { syncWait, hasNoProxy: true });
      const direct = {
        administration: cluster.options(0),
        run: (sql: string) => cluster.nodes[0].query(sql, DATABASE),
        rows: (count: number) => `SELECT seq, 0 FROM seq_1_to_${count}`,
      };
      return measureCausality(workplace, cluster, direct, syncWait === 1 ? 0 : null);
    },
  };
}

function onPgpool(name: string, title: string, isBalancing: boolean): Scenario {
  return {
    ...{ name, title, cluster: 'PostgreSQL' },
    async run(workplace) {
      const cluster = await PostgresCluster.start(workplace, {});
      const port = await startPgpool(workplace, [cluster.primary, cluster.standby], isBalancing);
      const url = `postgres://${APPLICATION}@127.0.0.1:${port}/${DATABASE}`;
      const throughPgpool = { auth: cluster.auth, options: () => ({ ...cluster.options(), url }) };
      const direct = {
        administration: cluster.options(),
        run: (sql: string) => cluster.primary.query(sql, DATABASE),
        rows: (count: number) => `SELECT n, 0 FROM generate_series(1, ${count}) n`,
      };
      return measureCausality(workplace, throughPgpool, direct, isBalancing ? null : 0);
    },
  };
}

/** Two instances on two servers, beside a job that keeps the servers busy with what they have to apply. */
export const READS: readonly Scenario[] = [
  onPgpool('pgpool-causal-reads', 'behind pgpool2 with `load_balance_mode = off`, beside a batch job', false),
  onPgpool('pgpool-stale-reads', 'the same with `load_balance_mode = on`', true),
  onGalera('galera-causal-reads', 'instances on two nodes with `wsrep_sync_wait=1`, beside a batch job', 1),
  onGalera('galera-stale-reads', 'the same with `wsrep_sync_wait=0`', 0),
];
