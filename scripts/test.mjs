// Runs the tests on SQLite, and on PostgreSQL and MariaDB where they are to be had. TEST_REQUIRE=postgres,mariadb makes
// a missing one a failure. Arguments go to Jest.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { availableServers, SERVERS } from './databases.mjs';

const available = (await availableServers()).map(({ name }) => name);
const required = (process.env.TEST_REQUIRE ?? '').split(',').filter(Boolean);
const missing = SERVERS.filter(({ name }) => !available.includes(name));
const lost = missing.filter(({ name }) => required.includes(name));
if (lost.length > 0) {
  for (const { name, variable, port } of lost) {
    console.error(`${name} is required and does not answer on 127.0.0.1:${port}; start it, or set ${variable}.`);
  }
  process.exit(1);
}

const databases = ['sqlite', ...available];
const skipped = missing.map(({ name, variable }) => `${name} (set ${variable})`);
console.log(`Tests run on: ${databases.join(', ')}${skipped.length > 0 ? `; not on: ${skipped.join(', ')}` : ''}`);
if (!process.env.TEST_PACKAGE) console.log('The packed library in fresh hosts is not tested (set TEST_PACKAGE=1).');
const jest = createRequire(import.meta.url).resolve('jest/bin/jest');
const env = { ...process.env, TEST_DATABASES: databases.join(',') };
const run = spawnSync(process.execPath, [jest, ...process.argv.slice(2)], { stdio: 'inherit', env });
process.exit(run.status ?? 1);
