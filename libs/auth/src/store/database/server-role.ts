import type { NotWritableKind } from '../../domain/metrics';
import type { Dialect } from './dialect';
import type { Row } from './transaction';

/** Galera reports its state in status variables, of which MariaDB alone makes a table. Other servers skip the comment. */
const GALERA_NOT_READY = `/*M!100100
  + (SELECT MAX(variable_name = 'wsrep_provider_name' AND variable_value <> '')
       AND SUM((variable_name, variable_value) IN (('wsrep_ready', 'ON'), ('wsrep_cluster_status', 'Primary'))) < 2
     FROM information_schema.global_status
     WHERE variable_name IN ('wsrep_provider_name', 'wsrep_ready', 'wsrep_cluster_status')) */`;

/**
 * What a server says of itself, as columns of a SELECT. Every user may ask. A standby of PostgreSQL is read-only as well. On
 * MySQL and MariaDB `read_only` includes `super_read_only`; MariaDB 12 has words for its values.
 */
export const ROLE_COLUMNS: Readonly<Record<Dialect, string>> = {
  sqlite: '0 AS in_recovery, 0 AS not_ready, 0 AS read_only',
  postgres: `pg_is_in_recovery() AS in_recovery, false AS not_ready,
    current_setting('transaction_read_only') = 'on' AS read_only`,
  mysql: `0 AS in_recovery, 0 ${GALERA_NOT_READY} AS not_ready,
    CAST(@@global.read_only AS CHAR) NOT IN ('0', 'OFF') OR @@global.innodb_read_only AS read_only`,
};

/** Why the server takes no writes, by the columns; null where it does. */
export function whyNotWritable(row: Row | undefined): NotWritableKind | null {
  const kinds = ['in_recovery', 'not_ready', 'read_only'] as const;
  return kinds.find((kind) => Number(row?.[kind]) === 1) ?? null;
}
