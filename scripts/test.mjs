// Runs the tests on SQLite, and on PostgreSQL, MariaDB and Chromium if they are available. To fail if some of them
// are missing, set TEST_REQUIRE, for example to postgres,mariadb,chromium. Arguments are passed to Jest.
import { spawnSync } from 'node:child_process';
import { createRequire, isBuiltin } from 'node:module';
import { chromiumPath } from './chromium.mjs';
import { availableServers, SERVERS } from './databases.mjs';

const available = (await availableServers()).map(({ name }) => name);
const required = (process.env.TEST_REQUIRE ?? '').split(',').filter(Boolean);
const missing = SERVERS.filter(({ name }) => !available.includes(name));
const missingRequired = missing.filter(({ name }) => required.includes(name));
const chromium = chromiumPath();
const isChromiumMissing = chromium === null && required.includes('chromium');
if (missingRequired.length > 0 || isChromiumMissing) {
  if (isChromiumMissing) console.error('chromium is required but not installed. Install it, or set CHROMIUM_PATH.');
  for (const { name, variable, port } of missingRequired) {
    console.error(
      `${name} is required but does not accept connections on 127.0.0.1:${port}. Start it, or set ${variable}.`,
    );
  }
  process.exit(1);
}

const databases = ['sqlite', ...available];
const skipped = missing.map(({ name, variable }) => `${name} (set ${variable})`);
console.log(`Tests run on: ${databases.join(', ')}${skipped.length > 0 ? `; not on: ${skipped.join(', ')}` : ''}`);
if (chromium) console.log(`The tests in a browser run in ${chromium}.`);
else
  console.log(
    'The tests in a browser are skipped, because Chromium is not installed. Install it, or set CHROMIUM_PATH.',
  );
if (!isBuiltin('node:sqlite'))
  console.log(`nestjs-session-auth/node-sqlite is not tested: Node ${process.versions.node} has no node:sqlite.`);
if (!process.env.TEST_PACKAGE)
  console.log('The packed library in a fresh application is not tested (set TEST_PACKAGE=1).');
const jest = createRequire(import.meta.url).resolve('jest/bin/jest');
const env = { ...process.env, TEST_DATABASES: databases.join(','), CHROMIUM_PATH: chromium ?? 'none' };
const run = spawnSync(process.execPath, [jest, ...process.argv.slice(2)], { stdio: 'inherit', env });
process.exit(run.status ?? 1);
