// Runs the library on clusters of PostgreSQL, MariaDB and MySQL while their servers fail: npm run clusters -- --help. The
// script starts all servers itself, on loopback, with data in a temporary folder. As root on Debian, it installs
// missing packages.
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mysql9, mysqld } from './databases/mysql9.mjs';
import { programOf } from './databases/server.mjs';

/** The paths or commands by which the script recognizes that a Debian package is installed. */
const PACKAGES = {
  postgresql: ['/usr/lib/postgresql', 'initdb'],
  'mariadb-server': ['mariadbd', '/usr/sbin/mariadbd'],
  'galera-4': ['/usr/lib/galera/libgalera_smm.so'],
  haproxy: ['haproxy', '/usr/sbin/haproxy'],
  pgbouncer: ['pgbouncer', '/usr/sbin/pgbouncer'],
  pgpool2: ['/usr/sbin/pgpool'],
  patroni: ['/usr/bin/patroni'],
  'python3-etcd': ['/usr/lib/python3/dist-packages/etcd'],
  'etcd-server': ['/usr/bin/etcd'],
};

/** Packages that the scenarios of `--short` do not need. */
const NOT_IN_SHORT = ['pgpool2', 'patroni', 'python3-etcd', 'etcd-server'];

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
if (!process.argv.includes('--help')) installMissing();

process.env.SWC_NODE_PROJECT ??= join(root, 'tsconfig.json');
process.env.NODE_ENV ??= 'test';

const require = createRequire(import.meta.url);
require('@swc-node/register');
require(join(root, 'test/clusters/main.ts'));

function installMissing() {
  const isShort = process.argv.includes('--short') && !process.argv.includes('--only');
  // Debian has no MySQL. This one is unpacked into a folder of its own.
  if (!isShort) process.env.CLUSTERS_MYSQLD = JSON.stringify(mysqld(programOf(mysql9)));
  const needed = Object.keys(PACKAGES).filter((name) => !isShort || !NOT_IN_SHORT.includes(name));
  const missing = needed.filter((name) => !PACKAGES[name].some(exists));
  if (missing.length === 0) return;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    console.error(
      `Not installed: ${missing.join(', ')}. Run as root on Debian to install them, or install them yourself.`,
    );
    process.exit(1);
  }
  console.log(`Installing ${missing.join(', ')}`);
  withoutStartingServers(() => {
    aptGet('update', '-qq');
    aptGet('install', '-y', '-qq', '--no-install-recommends', ...missing);
  });
}

function exists(file) {
  return file.startsWith('/') ? existsSync(file) : spawnSync(file, ['--version'], { stdio: 'ignore' }).status === 0;
}

/** Installs packages. Debian starts installed servers unless `policy-rc.d` forbids it. */
function withoutStartingServers(install) {
  const policy = '/usr/sbin/policy-rc.d';
  const isMissing = !existsSync(policy);
  if (isMissing) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    install();
  } finally {
    if (isMissing) rmSync(policy);
  }
}

function aptGet(...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const { status } = spawnSync('apt-get', args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error(`apt-get ${args[0]} failed with ${status}.`);
}
