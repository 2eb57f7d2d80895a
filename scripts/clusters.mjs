// Runs the library on clusters of PostgreSQL and MariaDB that break: npm run clusters -- --help. All servers are its own, on
// loopback, with data in a temporary folder. What is not installed comes from Debian, if this is Debian and runs as root.
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What a package of Debian is needed for. */
const PACKAGES = {
  postgresql: ['/usr/lib/postgresql', 'initdb'],
  'mariadb-server': ['mariadbd', '/usr/sbin/mariadbd'],
  'galera-4': ['/usr/lib/galera/libgalera_smm.so'],
  haproxy: ['haproxy', '/usr/sbin/haproxy'],
  pgbouncer: ['pgbouncer', '/usr/sbin/pgbouncer'],
  pgpool2: ['/usr/sbin/pgpool'],
};

/** What no scenario of the short form needs. */
const LONG_ONLY = ['pgpool2'];

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
if (!process.argv.includes('--help')) installMissing();

process.env.SWC_NODE_PROJECT ??= join(root, 'tsconfig.json');
process.env.NODE_ENV ??= 'test';

const require = createRequire(import.meta.url);
require('@swc-node/register');
require(join(root, 'test/clusters/main.ts'));

function installMissing() {
  const isShort = process.argv.includes('--short') && !process.argv.includes('--only');
  const needed = Object.keys(PACKAGES).filter((name) => !isShort || !LONG_ONLY.includes(name));
  const missing = needed.filter((name) => !PACKAGES[name].some(isThere));
  if (missing.length === 0) return;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    console.error(
      `Not installed: ${missing.join(', ')}. On Debian, root installs them; elsewhere, install them first.`,
    );
    process.exit(1);
  }
  console.log(`Installing ${missing.join(', ')}`);
  withoutStarting(() => {
    aptGet('update', '-qq');
    aptGet('install', '-y', '-qq', '--no-install-recommends', ...missing);
  });
}

function isThere(file) {
  return file.startsWith('/') ? existsSync(file) : spawnSync(file, ['--version'], { stdio: 'ignore' }).status === 0;
}

/** Debian starts the servers that it installs, unless this script forbids it. */
function withoutStarting(install) {
  const policy = '/usr/sbin/policy-rc.d';
  const isOurs = !existsSync(policy);
  if (isOurs) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    install();
  } finally {
    if (isOurs) rmSync(policy);
  }
}

function aptGet(...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const { status } = spawnSync('apt-get', args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error(`apt-get ${args[0]} failed with ${status}.`);
}
