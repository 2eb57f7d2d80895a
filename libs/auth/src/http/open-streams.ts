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

/** The principal that has last opened a stream, by channel. */
const PRINCIPALS = new WeakMap<EventEmitter, AuthPrincipal>();

/** Closes the GraphQL subscription (with its connection) or event stream that a call opens when its session ends. */
export function closeWithSession(sockets: OpenSockets, context: ExecutionContext, principal: AuthPrincipal): void {
  const channel = context.getType<string>() === 'graphql' ? subscriptionChannel(context) : responseChannel(context);
  if (!channel?.isOpen) return;
  // Further streams of the same session on one connection need no registration.
  const known = PRINCIPALS.get(channel.emitter);
  if (known?.sessionId === principal.sessionId && +known.authenticatedAt === +principal.authenticatedAt) return;
  PRINCIPALS.set(channel.emitter, principal);
  channel.emitter.once('close', sockets.register(principal, channel.close));
}

function subscriptionChannel(context: ExecutionContext): Channel | null {
  const socket = graphqlSocketOf(context);
  if (socket) {
    const isOpen = socket.readyState === socket.OPEN;
    return { emitter: socket, isOpen, close: () => socket.close(4401, 'Unauthorized') };
  }
  const request = requestOf(context) as { readonly raw?: { readonly socket?: Socket }; readonly socket?: Socket };
  const connection = request?.raw?.socket ?? request?.socket;
  return connection
    ? { emitter: connection, isOpen: !connection.destroyed, close: () => connection.destroySoon() }
    : null;
}

function responseChannel(context: ExecutionContext): Channel {
  const response = responseOf(context) as unknown as NodeResponse & { readonly raw?: NodeResponse };
  const raw = response.raw ?? response;
  const end = (): void => (raw.stream ? raw.stream.close() : raw.socket?.destroySoon());
  // Sends first what the application writes for the end of the session.
  return { emitter: raw, isOpen: !raw.destroyed, close: () => setImmediate(end) };
}
