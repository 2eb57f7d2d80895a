import { execFileSync } from 'node:child_process';
import { createServer, request as send } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { AuthEvent } from 'nestjs-session-auth';
import { describeHttp } from '../support/environment';
import { CREDENTIALS, PASSWORD, type TestApplication } from '../support/test-application';

/** Returns a POST request. */
function bytesOf(path: string, body: object, token?: string): string {
  const json = JSON.stringify(body);
  const head = [`POST ${path} HTTP/1.1`, 'Host: x', 'Content-Type: application/json', `Content-Length: ${json.length}`];
  return [...head, ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]), '', json].join('\r\n');
}

/** Sends a request and resets the connection after the server has accepted it, but before it has read the request. */
async function sendAndReset(app: TestApplication, ...request: Parameters<typeof bytesOf>): Promise<void> {
  const { hostname, port } = new URL(app.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await new Promise((resolve) => app.nest.getHttpServer().once('connection', resolve));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  // The process sends this before the server runs again.
  socket.write(bytesOf(...request));
  socket.resetAndDestroy();
  await closed;
}

const CLIENT = `
  const [port, bytes] = process.argv.slice(1);
  const socket = require('node:net').connect(Number(port), '127.0.0.1', () =>
    socket.write(bytes, () => socket.resetAndDestroy()));
`;

/**
 * Sends a request and resets the connection from another process while this one is blocked, so that the connection is
 * already reset when the server accepts it.
 */
function sendAndResetUnseen(app: TestApplication, ...request: Parameters<typeof bytesOf>): void {
  execFileSync(process.execPath, ['-e', CLIENT, new URL(app.url).port, bytesOf(...request)]);
}

const options = { auth: { endpoints: { reauthenticate: true } } };

describeHttp('clients that reset their connection', options, ({ app }) => {
  const addresses = async (): Promise<[event: string, address: string | null][]> => {
    const rows = await app.dataSource.getRepository(AuthEvent).find({ order: { id: 'ASC' } });
    return rows.map(({ event, ipAddress }) => [event, ipAddress]);
  };
  /** Waits up to five seconds until that many events with these names are stored, and returns their addresses. */
  const addressesOf = async (count: number, ...names: string[]): Promise<(string | null)[]> => {
    for (const until = Date.now() + 5_000; ;) {
      const found = (await addresses()).filter(([event]) => names.includes(event));
      if (found.length >= count || Date.now() > until) return found.map(([, address]) => address);
      await pause(10);
    }
  };

  it('the address of a client that sends a wrong password and resets its connection immediately is recorded', async () => {
    for (let i = 0; i < 3; i++) await sendAndReset(app, '/auth/login', { username: 'alice', password: 'wrong' });
    expect(await addressesOf(3, 'login_failure')).toEqual(Array(3).fill('127.0.0.1'));
  });

  it('the address of a client that ends sessions with a stolen token and resets its connection immediately is recorded', async () => {
    const { access_token: token } = await app.login();
    await app.login();
    await sendAndReset(app, '/auth/logout/all', {}, token);
    expect(await addressesOf(2, 'logout', 'session_revoked')).toEqual(['127.0.0.1', '127.0.0.1']);
  });

  it.each(['login', 'token/refresh', 'logout', 'logout/all', 'reauthenticate', 'password/change'])(
    'a client that resets its connection before the server accepts it cannot use POST %s, because its address is unknown',
    async (path) => {
      const { access_token: token, refresh_token } = await app.login();
      const change = { current_password: PASSWORD, new_password: 'another horse battery staple' };
      const body = { ...CREDENTIALS, refresh_token, ...change };
      const before = await addresses();
      sendAndResetUnseen(app, `/auth/${path}`, body, token);
      // Gives the server time to process the request.
      for (let i = 0; i < 5; i++) await app.get('/me', token).expect(200);
      await pause(100);
      expect(await addresses()).toEqual(before);
      await app.get('/me', token).expect(200);
    },
  );
});

describeHttp('clients that break off before the body', {}, ({ app }) => {
  it.each(['text/plain', 'application/json'])(
    'a body of type %s that never begins causes no error in the log',
    async (type) => {
      const { port } = new URL(app.url);
      const lines = ['POST /auth/login HTTP/1.1', 'Host: x', `Content-Type: ${type}`, 'Transfer-Encoding: chunked'];
      for (let i = 0; i < 3; i++) {
        const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
        socket.write([...lines, '', ''].join('\r\n'));
        await pause(30);
        socket.resetAndDestroy();
      }
      await app.login();
      expect(app.logs.filter((line) => /unexpected|aborted/i.test(line))).toEqual([]);
    },
  );
});

describeHttp('clients on a Unix socket', {}, ({ app, database, platform }) => {
  it('a client on a Unix socket, which has no address, logs in', async () => {
    const socketPath = join(tmpdir(), `auth-${process.pid}-${database.name}-${platform}.sock`);
    const server = createServer((...exchange) => app.nest.getHttpServer().emit('request', ...exchange));
    await new Promise<void>((resolve) => server.listen(socketPath, resolve));
    const status = await new Promise((resolve, reject) => {
      const headers = { 'Content-Type': 'application/json' };
      const login = send({ socketPath, path: '/auth/login', method: 'POST', headers }, (response) =>
        resolve(response.resume().statusCode),
      );
      login.on('error', reject).end(JSON.stringify(CREDENTIALS));
    });
    server.close();
    expect(status).toBe(200);
  });
});
