// Brings and starts database servers that the tests do not use by default: npm run databases -- --help.
import { cacheFolder } from './databases/cache.mjs';
import { mysql9 } from './databases/mysql9.mjs';
import { postgres18 } from './databases/postgres18.mjs';
import { start, statusOf, stop } from './databases/server.mjs';

const ALL = [mysql9, postgres18];
const COMMANDS = { start: startAll, stop: stopAll, status: printStatus };

const USAGE = `Usage: npm run databases -- <command> [server ...]

Commands:
  start    Downloads missing servers, starts them, and prints the variables with their URLs. The servers run until
           the command stop.
  stop     Stops the servers and keeps their data.
  status   Reports which servers run.

Servers (all of them by default):
${ALL.map(({ name, port, description }) => `  ${name.padEnd(12)}${description}, on 127.0.0.1:${port}`).join('\n')}

Programs, data and logs are in ${cacheFolder()}. XDG_CACHE_HOME chooses another folder. To delete a server,
stop it and delete its folder.

To run tests on the servers: npm test -- --databases ${ALL.map(({ name }) => name).join(',')} test/sessions`;

async function startAll(servers) {
  for (const server of servers) {
    const { version, pid, isNew } = await start(server);
    console.log(`${server.name}: version ${version} ${isNew ? 'runs' : 'already runs'} with pid ${pid}.`);
  }
  console.log(['', ...servers.map(({ variable, url }) => `${variable}=${url}`)].join('\n'));
}

async function stopAll(servers) {
  for (const server of servers) {
    const pid = await stop(server);
    console.log(`${server.name}: ${pid === null ? 'was not running' : `stopped pid ${pid}`}.`);
  }
}

function printStatus(servers) {
  for (const server of servers) console.log(`${server.name}: ${statusOf(server)}`);
}

/** Returns the servers with these names, or all of them if there are no names. */
function serversNamed(names) {
  const unknown = names.filter((name) => !ALL.some((server) => server.name === name));
  if (unknown.length > 0) {
    throw new Error(
      `Unknown servers: ${unknown.join(', ')}. The servers are ${ALL.map(({ name }) => name).join(' and ')}.`,
    );
  }
  return names.length > 0 ? ALL.filter(({ name }) => names.includes(name)) : ALL;
}

const [command, ...names] = process.argv.slice(2);
try {
  if (command === undefined || process.argv.includes('--help')) console.log(USAGE);
  else if (!Object.hasOwn(COMMANDS, command)) throw new Error(`Unknown command: ${command}.\n\n${USAGE}`);
  else await COMMANDS[command](serversNamed(names));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
