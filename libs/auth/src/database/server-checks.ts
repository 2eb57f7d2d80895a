import { describeFailure } from '../base/failures';
import type { Dialect } from './dialect';
import { DatabaseFailure } from './failure';
import type { Row } from './transaction';

/** Galera reports its state in status variables, which MariaDB offers as a table. Other servers skip the comment. */
const GALERA_NOT_READY = `/*M!100100
  + (SELECT MAX(variable_name = 'wsrep_provider_name' AND variable_value <> '')
       AND SUM((variable_name, variable_value) IN (('wsrep_ready', 'ON'), ('wsrep_cluster_status', 'Primary'))) < 2
     FROM information_schema.global_status
     WHERE variable_name IN ('wsrep_provider_name', 'wsrep_ready', 'wsrep_cluster_status')) */`;

/**
 * The columns that report whether a server accepts writes, for every database user. A PostgreSQL standby is also
 * read-only. On MySQL, `super_read_only` turns on `read_only`. On MariaDB 12, the values of `read_only` are words.
 */
export const ROLE_COLUMNS: Readonly<Record<Dialect, string>> = {
  sqlite: '0 AS in_recovery, 0 AS not_ready, 0 AS read_only',
  postgres: `pg_is_in_recovery() AS in_recovery, false AS not_ready,
    current_setting('transaction_read_only') = 'on' AS read_only`,
  mysql: `0 AS in_recovery, 0 ${GALERA_NOT_READY} AS not_ready,
    CAST(@@global.read_only AS CHAR) NOT IN ('0', 'OFF') OR @@global.innodb_read_only AS read_only`,
};

/** Throws if the server does not accept writes, according to the columns of `ROLE_COLUMNS` in the result. */
export function assertWritable({ rows: [row] }: { readonly rows: readonly Row[] }): void {
  const kind = (['in_recovery', 'not_ready', 'read_only'] as const).find((name) => Number(row?.[name]) === 1);
  if (kind) throw new DatabaseFailure(kind, 'The server does not accept writes.');
}

const BALANCED =
  'pgpool-II sends reads to standbys: ended sessions are accepted until their end is replicated. Set ' +
  '`load_balance_mode = off` in pgpool.conf, or connect to the primary.';

const MISSED = 'Ended sessions can be accepted, and the reuse of a refresh token can be missed.';

/** `processID` is the one that PostgreSQL, or a proxy, reported when the connection was opened. */
type ServerConnection = { processID?: number | undefined; query(sql: string): Promise<readonly Row[]> };

/** Returns warnings if the server accepts no writes, or if settings of it or of a proxy break a guarantee. */
export async function serverWarnings(dialect: Dialect, connection: ServerConnection): Promise<string[]> {
  try {
    assertWritable({ rows: await connection.query(`SELECT ${ROLE_COLUMNS[dialect]}`) });
  } catch (error) {
    return [`Logins and refreshes fail: ${describeFailure(error)}`];
  }
  return dialect === 'postgres' ? poolerWarnings(connection) : clusterWarnings(connection);
}

async function poolerWarnings(connection: ServerConnection): Promise<string[]> {
  const [row] = await connection.query(
    'SELECT pg_backend_pid() AS process_id, (SELECT COUNT(*) FROM pg_stat_replication) AS standbys',
  );
  // PostgreSQL rejects and logs the statement that detects pgpool-II.
  const mayBePgpool = Number(row?.['standbys']) > 0 && row?.['process_id'] !== connection.processID;
  if (!mayBePgpool) return [];
  const [pgpool] = await connection.query('PGPOOL SHOW load_balance_mode').catch(() => []);
  return pgpool?.['load_balance_mode'] === 'on' ? [BALANCED] : [];
}

async function clusterWarnings(connection: ServerConnection): Promise<string[]> {
  const rows = await connection.query(
    `SHOW VARIABLES WHERE Variable_name IN ('wsrep_on', 'wsrep_provider', 'wsrep_sync_wait',
       'group_replication_single_primary_mode', 'group_replication_consistency')`,
  );
  const settings = Object.fromEntries(rows.map((row) => [String(row['Variable_name']), String(row['Value'])]));
  const wait = settings['wsrep_sync_wait'];
  const isGalera = settings['wsrep_on'] === 'ON' && settings['wsrep_provider'] !== 'none';
  // The first bit makes reads wait.
  if (isGalera && (Number(wait) & 1) === 0) {
    return [
      `wsrep_sync_wait is ${wait}: a Galera node can read before it applies the commits of other nodes. ${MISSED} ` +
        'Set `wsrep_sync_wait = 1` on every node.',
    ];
  }
  const consistency = settings['group_replication_consistency'] ?? '';
  // In single-primary mode, the other members are read-only. `BEFORE` makes reads wait, and `AFTER` makes commits wait.
  const isMultiPrimary = settings['group_replication_single_primary_mode'] === 'OFF';
  if (!isMultiPrimary || !['EVENTUAL', 'BEFORE_ON_PRIMARY_FAILOVER'].includes(consistency)) return [];
  return [
    `group_replication_consistency is ${consistency} in a multi-primary group: a member can read before it applies the ` +
      `commits of other members. ${MISSED} Set group_replication_consistency to 'BEFORE' on every member, or use ` +
      'single-primary mode.',
  ];
}
