// Runs the tests on SQLite, and on PostgreSQL, MariaDB and Chromium if they are available. To fail if some of them
// are missing, set TEST_REQUIRE, for example to postgres,mariadb,chromium. To run the tests on other databases, pass
// for example --databases mysql9,postgres18. The other arguments are passed to Jest.
import { spawnSync } from 'node:child_process';
import { createRequire, isBuiltin } from 'node:module';
import { chromiumPath } from './chromium.mjs';
import { availableServers, EXTRA_SERVERS, SERVERS } from './servers.mjs';

const ALL_SERVERS = [...SERVERS, ...EXTRA_SERVERS];

const { chosen, jestArguments } = readArguments(process.argv.slice(2));
const servers = chosen ? ALL_SERVERS.filter(({ name }) => chosen.includes(name)) : SERVERS;
const available = (await availableServers(servers)).map(({ name }) => name);
const required = [...(chosen ?? []), ...namesIn(process.env.TEST_REQUIRE ?? '')];
const missing = servers.filter(({ name }) => !available.includes(name));
const missingRequired = missing.filter(({ name }) => required.includes(name));
const chromium = chromiumPath();
const isChromiumMissing = chromium === null && required.includes('chromium');
if (missingRequired.length > 0 || isChromiumMissing) {
  if (isChromiumMissing) console.error('chromium is required but not installed. Install it, or set CHROMIUM_PATH.');
  for (const { name, variable, port } of missingRequired) {
    const isExtra = EXTRA_SERVERS.some((server) => server.name === name);
    const start = isExtra ? `Start it with "npm run databases -- start ${name}"` : 'Start it';
    console.error(
      `${name} is required but does not accept connections on 127.0.0.1:${port}. ${start}, or set ${variable}.`,
    );
  }
  process.exit(1);
}

const databases = chosen ?? ['sqlite', ...available];
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
const run = spawnSync(process.execPath, [jest, ...jestArguments], { stdio: 'inherit', env });
process.exit(run.status ?? 1);

/** Separates the databases that `--databases` names, or null without the option, from the arguments of Jest. */
function readArguments(args) {
  const index = args.findIndex((argument) => /^--databases(?:=|$)/.test(argument));
  if (index === -1) return { chosen: null, jestArguments: args };
  const [, inline] = args[index].split('=');
  const chosen = namesIn(inline ?? args[index + 1] ?? '');
  const known = ['sqlite', ...ALL_SERVERS.map(({ name }) => name)];
  const unknown = chosen.filter((name) => !known.includes(name));
  if (chosen.length === 0 || unknown.length > 0) {
    console.error(
      unknown.length > 0 ? `Unknown databases: ${unknown.join(', ')}.` : '--databases needs a list of databases.',
      `Use a list of ${known.join(', ')}, separated by commas.`,
    );
    process.exit(1);
  }
  return { chosen, jestArguments: args.toSpliced(index, inline === undefined ? 2 : 1) };
}

function namesIn(list) {
  return list.split(',').filter(Boolean);
}
