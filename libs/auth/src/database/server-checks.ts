import type { NotWritableKind } from '../base/telemetry';
import type { Dialect } from './dialect';
import { DatabaseFailure } from './failure';
import type { Result, Row } from './transaction';

/** Galera reports its state in status variables, which MariaDB offers as a table. Other servers skip the comment. */
const GALERA_NOT_READY = `/*M!100100
  + (SELECT MAX(variable_name = 'wsrep_provider_name' AND variable_value <> '')
       AND SUM((variable_name, variable_value) IN (('wsrep_ready', 'ON'), ('wsrep_cluster_status', 'Primary'))) < 2
     FROM information_schema.global_status
     WHERE variable_name IN ('wsrep_provider_name', 'wsrep_ready', 'wsrep_cluster_status')) */`;

/**
 * The columns that report whether a server accepts writes. Every database user may select them. A PostgreSQL standby is
 * also read-only. On MySQL, `super_read_only` also turns on `read_only`. On MariaDB 12, the values of `read_only` are
 * words.
 */
export const ROLE_COLUMNS: Readonly<Record<Dialect, string>> = {
  sqlite: '0 AS in_recovery, 0 AS not_ready, 0 AS read_only',
  postgres: `pg_is_in_recovery() AS in_recovery, false AS not_ready,
    current_setting('transaction_read_only') = 'on' AS read_only`,
  mysql: `0 AS in_recovery, 0 ${GALERA_NOT_READY} AS not_ready,
    CAST(@@global.read_only AS CHAR) NOT IN ('0', 'OFF') OR @@global.innodb_read_only AS read_only`,
};

/** Returns why the server does not accept writes, according to the columns of `ROLE_COLUMNS`, or undefined. */
function whyNotWritable(row: Row | undefined): NotWritableKind | undefined {
  return (['in_recovery', 'not_ready', 'read_only'] as const).find((kind) => Number(row?.[kind]) === 1);
}

/** Throws if the server does not accept writes, according to the columns of `ROLE_COLUMNS` in the result. */
export function assertWritable({ rows }: Result): void {
  const kind = whyNotWritable(rows[0]);
  if (kind) throw new DatabaseFailure(kind, 'The server does not accept writes.');
}

const READ_ONLY =
  'The database server is read-only: logins and refreshes fail. Connect to the primary, or make the server writable.';

const STANDBY =
  'The database server is a standby: logins and refreshes fail, and ended sessions are accepted until their end is ' +
  'replicated. Connect to the primary.';

const BALANCED =
  'pgpool-II sends reads to standbys: ended sessions are accepted until their end is replicated. Set ' +
  '`load_balance_mode = off` in pgpool.conf, or connect to the primary.';

const NOT_READY =
  'The Galera node is not part of the primary component, or is not synchronized: logins and refreshes fail. ' +
  'Connect to a synchronized node of the primary component.';

interface ServerConnection {
  /** The process id that the server, or a proxy, reported when the connection was opened (PostgreSQL). */
  readonly processID?: number | undefined;
  query(sql: string): Promise<readonly Row[]>;
}

/**
 * Returns warnings, with their remedies, if the server does not accept writes, or if certain settings of the server or
 * of a proxy break a guarantee of the library.
 */
export function serverWarnings(dialect: Dialect, connection: ServerConnection): Promise<string[]> {
  return dialect === 'postgres' ? postgresWarnings(connection) : mysqlWarnings(connection);
}

async function postgresWarnings(connection: ServerConnection): Promise<string[]> {
  const [row] = await connection.query(
    `SELECT ${ROLE_COLUMNS.postgres}, pg_backend_pid() AS process_id,
       (SELECT COUNT(*) FROM pg_stat_replication) AS standbys`,
  );
  const kind = whyNotWritable(row);
  if (kind) return [kind === 'in_recovery' ? STANDBY : READ_ONLY];
  // PostgreSQL rejects and logs the statement that detects pgpool-II.
  const mayBePgpool = Number(row?.['standbys']) > 0 && row?.['process_id'] !== connection.processID;
  if (!mayBePgpool) return [];
  const [pgpool] = await connection.query('PGPOOL SHOW load_balance_mode').catch(() => []);
  return pgpool?.['load_balance_mode'] === 'on' ? [BALANCED] : [];
}

async function mysqlWarnings(connection: ServerConnection): Promise<string[]> {
  const kind = whyNotWritable((await connection.query(`SELECT ${ROLE_COLUMNS.mysql}`))[0]);
  const rows = await connection.query(
    `SHOW VARIABLES WHERE Variable_name IN ('wsrep_on', 'wsrep_provider', 'wsrep_sync_wait',
       'group_replication_single_primary_mode', 'group_replication_consistency')`,
  );
  const settings = Object.fromEntries(rows.map((row) => [row['Variable_name'], row['Value']])) as Record<
    string,
    string
  >;
  const warnings = kind ? [kind === 'read_only' ? READ_ONLY : NOT_READY] : [];
  const wait = settings['wsrep_sync_wait'];
  const isGalera = settings['wsrep_on'] === 'ON' && settings['wsrep_provider'] !== 'none';
  // The first bit makes reads wait.
  if (isGalera && (Number(wait) & 1) === 0) {
    warnings.push(
      `wsrep_sync_wait is ${wait}: a Galera node can read before it applies the commits of other nodes. Ended sessions ` +
        'can be accepted, and the reuse of a refresh token can be missed. Set `wsrep_sync_wait = 1` on every node.',
    );
  }
  const consistency = settings['group_replication_consistency'] ?? '';
  // In single-primary mode, the other members are read-only. `BEFORE` makes reads wait, and `AFTER` makes commits wait.
  const isMultiPrimary = settings['group_replication_single_primary_mode'] === 'OFF';
  if (isMultiPrimary && ['EVENTUAL', 'BEFORE_ON_PRIMARY_FAILOVER'].includes(consistency)) {
    warnings.push(
      `group_replication_consistency is ${consistency} in a multi-primary group: a member can read before it ` +
        'applies the commits of other members. Ended sessions can be accepted, and the reuse of a refresh token can be ' +
        "missed. Set group_replication_consistency to 'BEFORE' on every member, or use single-primary mode.",
    );
  }
  return warnings;
}
