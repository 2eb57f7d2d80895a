import { connect } from 'node:net';

/** The servers on which the tests run by default: the variable that contains the URL, and the default URL. */
export const SERVERS = [
  { name: 'postgres', variable: 'TEST_POSTGRES_URL', port: 5432, url: 'postgres://postgres@127.0.0.1:5432/postgres' },
  { name: 'mariadb', variable: 'TEST_MARIADB_URL', port: 3306, url: 'mysql://root@127.0.0.1:3306/mysql' },
];

/** The servers that `npm run databases` starts. The tests run on them only if `--databases` names them. */
export const EXTRA_SERVERS = [
  {
    name: 'postgres18',
    variable: 'TEST_POSTGRES18_URL',
    port: 5418,
    url: 'postgres://postgres@127.0.0.1:5418/postgres',
  },
  { name: 'mysql9', variable: 'TEST_MYSQL9_URL', port: 3309, url: 'mysql://root@127.0.0.1:3309/mysql' },
];

export const ALL_SERVERS = [...SERVERS, ...EXTRA_SERVERS];

/** Returns those of the servers whose variable is set, or that accept connections on their default local port. */
export async function availableServers(servers = SERVERS, env = process.env) {
  const found = await Promise.all(
    servers.map(async (server) => env[server.variable] || (await acceptsConnections(server.port))),
  );
  return servers.filter((_, index) => found[index]);
}

/** Returns whether a server accepts connections on a local port. */
export function acceptsConnections(port) {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, timeout: 1_000 });
    const end = (isAccepted) => {
      socket.destroy();
      resolve(isAccepted);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
    socket.once('timeout', () => end(false));
  });
}
