import { connect } from 'node:net';

/** Where the test databases are looked for. */
export const SERVERS = [
  { name: 'postgres', variable: 'TEST_POSTGRES_URL', port: 5432, url: 'postgres://postgres@127.0.0.1:5432/postgres' },
  { name: 'mariadb', variable: 'TEST_MARIADB_URL', port: 3306, url: 'mysql://root@127.0.0.1:3306/mysql' },
];

/** The servers that a variable names or that answer on their usual local port. */
export async function availableServers(env = process.env) {
  const found = await Promise.all(SERVERS.map(async (server) => env[server.variable] || (await answers(server.port))));
  return SERVERS.filter((_, index) => found[index]);
}

export function answers(port) {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, timeout: 1_000 });
    const end = (answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
    socket.once('timeout', () => end(false));
  });
}
