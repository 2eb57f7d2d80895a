import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXTRA_SERVERS } from '../servers.mjs';
import { archiveIn } from './apt-sources.mjs';
import { run } from './run.mjs';

const LIBRARIES = 'usr/lib/x86_64-linux-gnu';
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/**
 * MySQL 9 from the packages of Debian sid. The packages are unpacked into a folder together with all libraries on
 * which they depend, including the C library and its loader, so the packages of the system stay as they are.
 */
export const mysql9 = {
  ...EXTRA_SERVERS.find(({ name }) => name === 'mysql9'),
  description: 'MySQL 9 from Debian sid, for Debian on x64',
  stopSignal: 'SIGTERM',

  requirePlatform() {
    if (releaseOfSystem().ID === 'debian' && existsSync(KEYRING)) return;
    throw new Error(
      'mysql9 is unpacked from packages of Debian, so it needs Debian with the package debian-archive-keyring. ' +
        `On another system, start a MySQL 9 server yourself and set ${mysql9.variable}.`,
    );
  },

  install(folder) {
    const apt = join(folder, 'apt');
    for (const part of ['lists/partial', 'cache/archives/partial']) mkdirSync(join(apt, part), { recursive: true });
    const archive = archiveIn(readSources(), releaseOfSystem().VERSION_CODENAME);
    writeFileSync(join(apt, 'sources.list'), `deb [signed-by=${KEYRING}] ${archive} sid main\n`);
    // No package counts as installed, so apt-get downloads all dependencies.
    writeFileSync(join(apt, 'status'), '');
    const settings = {
      'Dir::Etc::sourcelist': join(apt, 'sources.list'),
      'Dir::Etc::sourceparts': '-',
      'Dir::State::lists': join(apt, 'lists'),
      'Dir::State::status': join(apt, 'status'),
      'Dir::Cache': join(apt, 'cache'),
      // The lock belongs to root, and no other user uses these folders.
      'Debug::NoLocking': 'true',
      'APT::Update::Error-Mode': 'any',
    };
    const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
    run('read the package lists of Debian sid', ['apt-get', ...options, '-qq', 'update']);
    const download = ['apt-get', ...options, '-qq', '-y', '--no-install-recommends', '--download-only', 'install'];
    run('download MySQL', [...download, 'mysql-server-core']);
    const archives = join(apt, 'cache/archives');
    for (const file of readdirSync(archives).filter((name) => name.endsWith('.deb'))) {
      run(`unpack ${file}`, ['dpkg', '-x', join(archives, file), folder]);
    }
    rmSync(apt, { recursive: true });
  },

  initialization: (program, data) => [...mysqld(program), `--datadir=${data}`, '--initialize-insecure'],

  command: (program, data, port) => [
    ...mysqld(program),
    `--datadir=${data}`,
    ...['--bind-address=127.0.0.1', `--port=${port}`, '--socket=mysql.sock', '--mysqlx=OFF', '--max-connections=400'],
    // Not flushing the log at each commit is faster. No test crashes this server.
    ...['--disable-log-bin', '--innodb-flush-log-at-trx-commit=2'],
  ],

  async readVersion(url) {
    const { default: mysql } = await import('mysql2/promise');
    const connection = await mysql.createConnection(url);
    try {
      const [rows] = await connection.query('SELECT VERSION() AS version');
      return rows[0].version;
    } finally {
      await connection.end();
    }
  },
};

/** Returns the command of the server with the options that each start needs, except `--datadir`. */
export function mysqld(program) {
  const libraries = [LIBRARIES, 'usr/lib/mysql/private'].map((path) => join(program, path)).join(':');
  return [
    ...[join(program, LIBRARIES, 'ld-linux-x86-64.so.2'), '--library-path', libraries],
    ...[join(program, 'usr/sbin/mysqld'), '--no-defaults', `--basedir=${join(program, 'usr')}`],
    ...[
      `--lc-messages-dir=${join(program, 'usr/share/mysql')}`,
      `--plugin-dir=${join(program, 'usr/lib/mysql/plugin')}`,
    ],
    '--secure-file-priv=NULL',
  ];
}

/** Returns the fields of /etc/os-release, for example `ID` and `VERSION_CODENAME`. */
function releaseOfSystem() {
  const file = '/etc/os-release';
  if (!existsSync(file)) return {};
  const fields = readFileSync(file, 'utf8').matchAll(/^(\w+)="?(.*?)"?$/gm);
  return Object.fromEntries([...fields].map(([, name, value]) => [name, value]));
}

/** Returns the contents of the files in which apt is configured. */
function readSources() {
  const folder = '/etc/apt/sources.list.d';
  const parts = existsSync(folder) ? readdirSync(folder).sort() : [];
  return ['/etc/apt/sources.list', ...parts.map((part) => join(folder, part))]
    .filter((file) => /\.(?:list|sources)$/.test(file) && existsSync(file))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n\n');
}
