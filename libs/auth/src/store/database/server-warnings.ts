import type { Dialect } from './dialect';
import { ROLE_COLUMNS, whyNotWritable } from './server-role';
import type { Row } from './transaction';

/** A connection to the server, or to a proxy. */
export interface ServerConnection {
  /** What the server, or the proxy, gave as the process that serves the connection (PostgreSQL). */
  readonly processID?: number | undefined;
  ask(sql: string): Promise<readonly Row[]>;
}

const READ_ONLY = 'The database server is read-only: logins and refreshes fail. Connect to the primary.';
const STANDBY =
  'The database server is a standby: it may not know yet of a logout, and logins and refreshes fail. Connect to the primary.';
const BALANCED =
  'Reads are balanced to standbys, which may not know yet of a logout or a refresh. Set `load_balance_mode = off` in ' +
  'pgpool.conf, or connect to the primary.';
const NOT_READY = 'The Galera node is not part of a primary component: it serves nothing.';

/** What of the server, or of a proxy before it, breaks what the library promises, and what to set instead. */
export async function serverWarnings(dialect: Dialect, connection: ServerConnection): Promise<string[]> {
  if (dialect === 'sqlite') return [];
  return dialect === 'postgres' ? postgresWarnings(connection) : mysqlWarnings(connection);
}

async function postgresWarnings(connection: ServerConnection): Promise<string[]> {
  const [row] = await connection.ask(
    `SELECT ${ROLE_COLUMNS.postgres}, pg_backend_pid() AS process_id,
       (SELECT COUNT(*) FROM pg_stat_replication) AS standbys`,
  );
  const kind = whyNotWritable(row);
  if (kind) return [kind === 'in_recovery' ? STANDBY : READ_ONLY];
  const mayBePgpool = Number(row?.['standbys']) > 0 && row?.['process_id'] !== connection.processID;
  return mayBePgpool && (await isBalancing(connection)) ? [BALANCED] : [];
}

/** PostgreSQL refuses this statement and logs that, so only what may be pgpool2 is asked: another process in front of standbys. */
async function isBalancing(connection: ServerConnection): Promise<boolean> {
  const [row] = await connection.ask('PGPOOL SHOW load_balance_mode').catch(() => []);
  return row?.['load_balance_mode'] === 'on';
}

async function mysqlWarnings(connection: ServerConnection): Promise<string[]> {
  const kind = whyNotWritable((await connection.ask(`SELECT ${ROLE_COLUMNS.mysql}`))[0]);
  const rows = await connection.ask(
    `SHOW VARIABLES WHERE Variable_name IN ('wsrep_on', 'wsrep_provider', 'wsrep_sync_wait',
       'group_replication_single_primary_mode', 'group_replication_consistency')`,
  );
  const settings = new Map(rows.map((row) => [String(row['Variable_name']), String(row['Value'])]));
  const warnings = [galeraWarning(settings), groupReplicationWarning(settings)];
  if (kind) warnings.push(kind === 'read_only' ? READ_ONLY : NOT_READY);
  return warnings.filter((warning) => warning !== null);
}

type Settings = ReadonlyMap<string, string>;

/** The first bit of `wsrep_sync_wait` is for reads. */
function galeraWarning(settings: Settings): string | null {
  const isGalera = settings.get('wsrep_on') === 'ON' && settings.get('wsrep_provider') !== 'none';
  const wait = settings.get('wsrep_sync_wait');
  if (!isGalera || (Number(wait) & 1) === 1) return null;
  return (
    `wsrep_sync_wait is ${wait}: a node of Galera reads before it has applied what other nodes have committed, so it ` +
    'accepts sessions that ended there, and misses the reuse of refresh tokens. Set `wsrep_sync_wait = 1` on every node.'
  );
}

/** `BEFORE` and `AFTER` wait for other members. In single-primary mode all reads go to the one that has all. */
function groupReplicationWarning(settings: Settings): string | null {
  const consistency = settings.get('group_replication_consistency');
  if (settings.get('group_replication_single_primary_mode') !== 'OFF') return null;
  if (consistency !== 'EVENTUAL' && consistency !== 'BEFORE_ON_PRIMARY_FAILOVER') return null;
  return (
    `group_replication_consistency is ${consistency}, in a group with several writers: a member reads before it has applied ` +
    'what others have committed, so it accepts sessions that ended there, and misses the reuse of refresh tokens. ' +
    "Set it to 'BEFORE' on every member, or use single-primary mode."
  );
}
