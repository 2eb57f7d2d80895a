import { execFileSync } from 'node:child_process';
import { connect } from 'node:net';
import type { Host } from './host';

function bytesOf(path: string, body: object, headers: readonly string[]): string {
  const json = JSON.stringify(body);
  const head = [`POST ${path} HTTP/1.1`, 'Host: x', 'Content-Type: application/json', `Content-Length: ${json.length}`];
  return [...head, ...headers, '', json].join('\r\n');
}

/** Sends a request and resets the connection before the server has read it, but after the server knows of it. */
export async function sendAndReset(host: Host, path: string, body: object, ...headers: string[]): Promise<void> {
  const { hostname, port } = new URL(host.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await new Promise((resolve) => host.app.getHttpServer().once('connection', resolve));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  // What is written now is sent before the server runs again.
  socket.write(bytesOf(path, body, headers));
  socket.resetAndDestroy();
  await closed;
}

const CLIENT = `
  const [port, bytes] = process.argv.slice(1);
  const socket = require('node:net').connect(Number(port), '127.0.0.1', () =>
    socket.write(bytes, () => socket.resetAndDestroy()));
`;

/** The same from another process, while this one does not run: the connection is reset when the server accepts it. */
export function sendAndResetUnseen(host: Host, path: string, body: object, ...headers: string[]): void {
  execFileSync(process.execPath, ['-e', CLIENT, new URL(host.url).port, bytesOf(path, body, headers)]);
}
