import { EventEmitter } from 'node:events';
import type { HttpAdapterHost } from '@nestjs/core';

/** Returns the HTTP server of the application, if it has one. */
export function httpServerOf({ httpAdapter }: HttpAdapterHost): EventEmitter | null {
  const server = (httpAdapter as { getHttpServer?(): unknown } | undefined)?.getHttpServer?.();
  return server instanceof EventEmitter ? server : null;
}

/**
 * Reads the address of each connection as soon as the connection is accepted. Node.js caches an address that was read, so
 * `request.ip` is known even after the client has reset the connection.
 */
export function cachePeerAddresses(server: EventEmitter): void {
  const read = (socket: { readonly remoteAddress?: string }): void => void socket.remoteAddress;
  // With TLS, `request.socket` is the TLS socket, which has its own cache.
  for (const event of ['connection', 'secureConnection']) server.prependListener(event, read);
}
