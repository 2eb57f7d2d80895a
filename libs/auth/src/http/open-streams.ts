import type { ExecutionContext } from '@nestjs/common';
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { AuthPrincipal } from '../sessions/authenticate';
import type { OpenSockets } from '../sessions/open-sockets';
import { graphqlSocketOf, requestOf, responseOf } from './transports';

/** What a stream is sent over: a WebSocket, or the connection or response of a request. */
interface Channel {
  readonly emitter: EventEmitter;
  readonly isOpen: boolean;
  readonly close: () => unknown;
}

/** A response of Node.js. `stream` exists with HTTP/2. */
interface NodeResponse extends EventEmitter {
  readonly destroyed: boolean;
  readonly stream?: { close(): void };
  readonly socket: Socket | null;
}

/** The sessions, with their last proof of identity, that have opened streams on a channel. */
const REGISTERED = new WeakMap<EventEmitter, Set<string>>();

/** Closes the GraphQL subscription (with its connection) or event stream that a call opens when its session ends. */
export function closeWithSession(sockets: OpenSockets, context: ExecutionContext, principal: AuthPrincipal): void {
  const channel = webSocketChannel(context) ?? responseChannel(context) ?? connectionChannel(context);
  if (!channel?.isOpen) return;
  // Further streams of the same session on one connection need no registration.
  const registered = REGISTERED.get(channel.emitter) ?? new Set();
  const proof = `${principal.sessionId} ${principal.authenticatedAt.getTime()}`;
  if (registered.has(proof)) return;
  REGISTERED.set(channel.emitter, registered.add(proof));
  channel.emitter.once('close', sockets.register(principal, channel.close));
}

function webSocketChannel(context: ExecutionContext): Channel | null {
  const socket = graphqlSocketOf(context);
  if (!socket) return null;
  const isOpen = socket.readyState === socket.OPEN;
  return { emitter: socket, isOpen, close: () => socket.close(4401, 'Unauthorized') };
}

/** The connection of a GraphQL subscription whose context contains neither its WebSocket nor a response. */
function connectionChannel(context: ExecutionContext): Channel | null {
  const request = requestOf(context) as { readonly raw?: { readonly socket?: Socket }; readonly socket?: Socket };
  const connection = request?.raw?.socket ?? request?.socket;
  if (!connection) return null;
  return { emitter: connection, isOpen: !connection.destroyed, close: () => connection.destroySoon() };
}

function responseChannel(context: ExecutionContext): Channel | null {
  const response = responseOf(context) as unknown as (NodeResponse & { readonly raw?: NodeResponse }) | undefined;
  const raw = response?.raw ?? response;
  if (!raw) return null;
  const end = (): void => (raw.stream ? raw.stream.close() : raw.socket?.destroySoon());
  // Sends first what the application writes for the end of the session.
  return { emitter: raw, isOpen: !raw.destroyed, close: () => setImmediate(end) };
}
