import type { ExecutionContext } from '@nestjs/common';
import type { EventEmitter } from 'node:events';
import type { AuthPrincipal } from '../sessions/authenticate';
import type { OpenSockets } from '../sessions/open-sockets';
import { graphqlSocketOf, requestOf, responseOf } from './transports';

/** What a stream is sent over: a WebSocket, or the connection or response of a request. */
interface Channel {
  readonly emitter: EventEmitter;
  readonly close: () => void;
}

type Connection = EventEmitter & { destroy(): void };

/** The principal that has last opened a stream, by channel. */
const PRINCIPALS = new WeakMap<EventEmitter, AuthPrincipal>();

/**
 * Closes the stream that a call opens when its session ends: a GraphQL subscription, with its connection, or a stream of
 * server-sent events. Further streams of the same session on one connection need no registration.
 */
export function closeWithSession(sockets: OpenSockets, context: ExecutionContext, principal: AuthPrincipal): void {
  const channel = context.getType<string>() === 'graphql' ? subscriptionChannel(context) : responseChannel(context);
  if (!channel) return;
  const known = PRINCIPALS.get(channel.emitter);
  if (known?.sessionId === principal.sessionId && +known.authenticatedAt === +principal.authenticatedAt) return;
  PRINCIPALS.set(channel.emitter, principal);
  channel.emitter.once('close', sockets.register(principal, channel.close));
}

function subscriptionChannel(context: ExecutionContext): Channel | null {
  const socket = graphqlSocketOf(context);
  if (socket) return { emitter: socket, close: () => socket.close(4401, 'Unauthorized') };
  const request = requestOf(context) as {
    readonly raw?: { readonly socket?: Connection };
    readonly socket?: Connection;
  };
  return channelOf(request?.raw?.socket ?? request?.socket);
}

function responseChannel(context: ExecutionContext): Channel | null {
  const response = responseOf(context) as unknown as (Connection & { readonly raw?: Connection }) | undefined;
  return channelOf(response?.raw ?? response);
}

function channelOf(connection: Connection | undefined): Channel | null {
  return connection ? { emitter: connection, close: () => connection.destroy() } : null;
}
