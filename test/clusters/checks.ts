/** How HAProxy asks a server whether it takes writes, in the server's own protocol. */

/** The user that HAProxy logs in as, without a password and without any privilege. */
export const CHECK_USER = 'haproxy';

/** A primary answers `SHOW transaction_read_only` with `off`, a standby with `on`. */
export function postgresCheck(): string[] {
  const startup = pgMessage('', `\0\x03\0\0user\0${CHECK_USER}\0database\0postgres\0\0`);
  const query = pgMessage('Q', 'SHOW transaction_read_only\0');
  return [
    'option tcp-check',
    // The server hangs up after the last message, so that a wrong answer is noticed without a timeout.
    `tcp-check send-binary ${hex(startup + query + pgMessage('X', ''))}`,
    `tcp-check expect binary ${hex(pgMessage('D', '\0\x01\0\0\0\x03off'))}`,
  ];
}

/** A node that belongs to the cluster and is up to date has the state 4, `Synced`. */
export function galeraCheck(): string[] {
  const capabilities = '\x01\x82\0\0';
  const login = `${capabilities}\0\0\0\x01\x21${'\0'.repeat(23)}${CHECK_USER}\0\0`;
  const query = mysqlPacket(0, "\x03SHOW STATUS LIKE 'wsrep_local_state'");
  return [
    'option tcp-check',
    'tcp-check expect string mysql_native_password',
    `tcp-check send-binary ${hex(mysqlPacket(1, login) + query + mysqlPacket(0, '\x01'))}`,
    `tcp-check expect binary ${hex('\x11wsrep_local_state\x014')}`,
  ];
}

/** How often HAProxy asks, and what it does with connections when a server becomes or ceases to be the primary. */
export const CHANGES_OF_PRIMARY = changes(1);

/**
 * The same for a node; connections to another one end when the first is back. A node that hung longer than the others wait
 * for it (5 s) notices only as long afterwards that they went on without it. Until then it says that it is up to date.
 */
export const CHANGES_OF_NODES = `${changes(10)} on-marked-up shutdown-backup-sessions`;

/** @param rise after how many right answers in a row a server gets connections */
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
