// npm test: the tests of the subjects on SQLite, and those of the state also on the servers that run locally.
// npm test -- <path>: the tests of a file or folder on all available databases.
// npm run test:all: everything. To fail if a server or Chromium is missing, set TEST_REQUIRE, for example to
// postgres,mariadb,chromium. --databases mysql9,postgres18 chooses other databases. Other arguments are Jest's.
import { spawnSync } from 'node:child_process';
import { createRequire, isBuiltin } from 'node:module';
import { chromiumPath } from './chromium.mjs';
import { ALL_SERVERS, availableServers, EXTRA_SERVERS, SERVERS } from './servers.mjs';

/** The folders of `test` that show what the library promises, by subject. The other folders take longer. */
const SUBJECTS = [
  ...['accounts', 'adapters', 'applications', 'base', 'database', 'history', 'http', 'login', 'module', 'options'],
  ...['passwords', 'retention', 'sessions', 'testing', 'throttle', 'tokens', 'users'],
];
/** The subjects whose state is in the database: the short run tests these on the servers too. */
const STATE = ['accounts', 'history', 'login', 'passwords', 'sessions', 'throttle', 'users'];

const isWhole = process.argv.includes('--all');
const { chosen, jestArguments } = readArguments(process.argv.slice(2).filter((argument) => argument !== '--all'));
const isShort = !isWhole && !jestArguments.some((argument) => !argument.startsWith('-'));
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
const notRun = [
  ...missing.map(({ name, port, variable }) => `on ${name}: nothing answers on port ${port} (or set ${variable})`),
  ...(chromium ? [] : ['in a browser: Chromium is not installed (or set CHROMIUM_PATH)']),
  ...(isBuiltin('node:sqlite') ? [] : [`nestjs-session-auth/node-sqlite: needs Node 22.13 or later`]),
  ...(process.env.TEST_PACKAGE ? [] : ['the packed library in fresh applications: set TEST_PACKAGE=1']),
];
if (isShort) {
  const others = ['races', 'faults', 'crash', 'properties', 'client', 'browser', 'sample and the other folders'];
  const where = available.length > 0 ? `; on ${available.join(' and ')} only ${STATE.join(', ')}` : '';
  notRun.push(`test/${others.join(', test/')}${where}: npm run test:all`);
}
console.log(`Tests run on: ${databases.join(', ')}`);

const jest = createRequire(import.meta.url).resolve('jest/bin/jest');
const env = { ...process.env, TEST_DATABASES: databases.join(','), CHROMIUM_PATH: chromium ?? 'none' };
if (isShort) env.TEST_SERVER_FOLDERS = STATE.join(',');
const folders = isShort ? SUBJECTS.map((name) => `test/${name}/`) : [];
const run = spawnSync(process.execPath, [jest, ...jestArguments, ...folders], { stdio: 'inherit', env });
console.log(['Not run:', ...notRun].join('\n  '));
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
