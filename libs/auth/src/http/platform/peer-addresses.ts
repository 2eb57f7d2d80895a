import { EventEmitter } from 'node:events';
import type { HttpAdapterHost } from '@nestjs/core';

/** Returns the HTTP server of the application, if it has one. */
export function httpServerOf({ httpAdapter }: HttpAdapterHost): EventEmitter | null {
  const server = (httpAdapter as { getHttpServer?(): unknown } | undefined)?.getHttpServer?.();
  return server instanceof EventEmitter ? server : null;
}

/**
 * Reads the address of each connection as soon as it is there. A connection that its client resets has none any more,
 * but Node keeps one that was read: so `request.ip` is known for as long as the request is served.
 */
export function keepPeerAddresses(server: EventEmitter): void {
  const read = (socket: { readonly remoteAddress?: string }): void => void socket.remoteAddress;
  // With TLS there is a second socket, which requests have.
  for (const event of ['connection', 'secureConnection']) server.prependListener(event, read);
}
