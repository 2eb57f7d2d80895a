/** Health checks with which HAProxy detects whether a server accepts writes, in the server's own protocol. */

/** The user that HAProxy logs in as. It has no password and no privileges. */
export const CHECK_USER = 'haproxy';

/** The response to `SHOW transaction_read_only` is `off` from a primary and `on` from a standby. */
export function postgresCheck(): string[] {
  const startup = pgMessage('', `\0\x03\0\0user\0${CHECK_USER}\0database\0postgres\0\0`);
  const query = pgMessage('Q', 'SHOW transaction_read_only\0');
  return [
    'option tcp-check',
    // The server closes the connection after the last message, so that a wrong response is detected without a
    // timeout.
    `tcp-check send-binary ${hex(startup + query + pgMessage('X', ''))}`,
    `tcp-check expect binary ${hex(pgMessage('D', '\0\x01\0\0\0\x03off'))}`,
  ];
}

/** Patroni's REST API responds with 200 if its server is the primary and holds the leader's lock. */
export function patroniCheck(): string[] {
  return ['option httpchk OPTIONS /primary', 'http-check expect status 200'];
}

/** A node that belongs to the cluster and is up to date has the state 4, `Synced`. */
export function galeraCheck(): string[] {
  return mysqlCheck('mysql_native_password', "SHOW STATUS LIKE 'wsrep_local_state'", '\x11wsrep_local_state\x014');
}

/** A member that accepts writes is not `super_read_only`. */
export function memberCheck(): string[] {
  return mysqlCheck('caching_sha2_password', "SHOW VARIABLES LIKE 'super_read_only'", '\x0fsuper_read_only\x03OFF');
}

/** Logs in without a password, runs the query, and looks for a row in the response. */
function mysqlCheck(plugin: string, query: string, row: string): string[] {
  // CLIENT_LONG_PASSWORD, CLIENT_PROTOCOL_41, CLIENT_SECURE_CONNECTION and CLIENT_PLUGIN_AUTH.
  const capabilities = '\x01\x82\x08\0';
  const login = `${capabilities}\0\0\0\x01\x21${'\0'.repeat(23)}${CHECK_USER}\0\0${plugin}\0`;
  return [
    'option tcp-check',
    `tcp-check expect string ${plugin}`,
    `tcp-check send-binary ${hex(mysqlPacket(1, login) + mysqlPacket(0, `\x03${query}`) + mysqlPacket(0, '\x01'))}`,
    `tcp-check expect binary ${hex(row)}`,
  ];
}

/** The check interval, and what HAProxy does with connections when a server becomes or ceases to be the primary. */
export const CHANGES_OF_PRIMARY = changes(1);

/**
 * The same for a Galera node. Connections to a backup node end when the first node is available again. The other
 * nodes continue without a node that is frozen for more than 5 s. After the frozen node resumes, it needs 5 s to
 * detect this, and until then reports that it is up to date.
 */
export const CHANGES_OF_NODES = `${changes(10)} on-marked-up shutdown-backup-sessions`;

/**
 * The same for a member of a replication group. The others expel a member that is frozen for more than 10 s. After the
 * member resumes, it needs 3 s to detect this, and until then reports that it accepts writes.
 */
export const CHANGES_OF_MEMBERS = `${changes(6)} on-marked-up shutdown-backup-sessions`;

/** @param rise the number of consecutive successful checks after which a server receives connections */
function changes(rise: number): string {
  return `inter 1s fall 2 rise ${rise} on-marked-down shutdown-sessions`;
}

function pgMessage(type: string, body: string): string {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return `${type}${length.toString('latin1')}${body}`;
}

function mysqlPacket(sequence: number, body: string): string {
  return `${String.fromCharCode(body.length, 0, 0, sequence)}${body}`;
}

function hex(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('hex');
}
