import { execFileSync } from 'node:child_process';
import { connect } from 'node:net';
import type { TestApplication } from './test-application';

function bytesOf(path: string, body: object, headers: readonly string[]): string {
  const json = JSON.stringify(body);
  const head = [`POST ${path} HTTP/1.1`, 'Host: x', 'Content-Type: application/json', `Content-Length: ${json.length}`];
  return [...head, ...headers, '', json].join('\r\n');
}

/**
 * Sends a request and resets the connection after the server has accepted it, but before the server has read
 * the request.
 */
export async function sendAndReset(
  app: TestApplication,
  path: string,
  body: object,
  ...headers: string[]
): Promise<void> {
  const { hostname, port } = new URL(app.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await new Promise((resolve) => app.nest.getHttpServer().once('connection', resolve));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  // The process sends this before the server runs again.
  socket.write(bytesOf(path, body, headers));
  socket.resetAndDestroy();
  await closed;
}

const CLIENT = `
  const [port, bytes] = process.argv.slice(1);
  const socket = require('node:net').connect(Number(port), '127.0.0.1', () =>
    socket.write(bytes, () => socket.resetAndDestroy()));
`;

/**
 * Sends a request and resets the connection from another process while this one is blocked, so that the
 * connection is already reset when the server accepts it.
 */
export function sendAndResetUnseen(app: TestApplication, path: string, body: object, ...headers: string[]): void {
  execFileSync(process.execPath, ['-e', CLIENT, new URL(app.url).port, bytesOf(path, body, headers)]);
}
