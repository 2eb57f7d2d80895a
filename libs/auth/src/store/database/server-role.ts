import type { NotWritableKind } from '../../domain/metrics';
import type { Dialect } from './dialect';
import type { Row } from './transaction';

/**
 * Galera reports its state in status variables, which MariaDB offers in
 * `information_schema.global_status`. Other servers skip the comment.
 */
const GALERA_NOT_READY = `/*M!100100
  + (SELECT MAX(variable_name = 'wsrep_provider_name' AND variable_value <> '')
       AND SUM((variable_name, variable_value) IN (('wsrep_ready', 'ON'), ('wsrep_cluster_status', 'Primary'))) < 2
     FROM information_schema.global_status
     WHERE variable_name IN ('wsrep_provider_name', 'wsrep_ready', 'wsrep_cluster_status')) */`;

/**
 * The columns that report whether a server accepts writes. Every database user may select them. A
 * PostgreSQL standby is also read-only. On MySQL, `super_read_only` also turns on `read_only`. On
 * MariaDB 12, the values of `read_only` are words.
 */
export const ROLE_COLUMNS: Readonly<Record<Dialect, string>> = {
  sqlite: '0 AS in_recovery, 0 AS not_ready, 0 AS read_only',
  postgres: `pg_is_in_recovery() AS in_recovery, false AS not_ready,
    current_setting('transaction_read_only') = 'on' AS read_only`,
  mysql: `0 AS in_recovery, 0 ${GALERA_NOT_READY} AS not_ready,
    CAST(@@global.read_only AS CHAR) NOT IN ('0', 'OFF') OR @@global.innodb_read_only AS read_only`,
};

/**
 * Returns why the server does not accept writes, according to the columns of `ROLE_COLUMNS`. Returns null
 * if they report no reason, or if there is no row.
 */
export function whyNotWritable(row: Row | undefined): NotWritableKind | null {
  const kinds = ['in_recovery', 'not_ready', 'read_only'] as const;
  return kinds.find((kind) => Number(row?.[kind]) === 1) ?? null;
}
