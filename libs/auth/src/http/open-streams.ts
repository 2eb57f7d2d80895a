import type { ExecutionContext } from '@nestjs/common';
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { OpenSockets } from '../sessions/open-sockets';
import { identityOf, type Principal } from './callers';
import { graphqlSocketOf, requestOf, responseOf } from './transports';

/** What a stream is sent over: a WebSocket, or the connection or response of a request. */
interface Channel {
  /** The channel has ended when one of them emits `close`. The first identifies the channel. */
  readonly emitters: readonly [EventEmitter, ...EventEmitter[]];
  readonly isOpen: boolean;
  readonly close: () => unknown;
}

type Request = { readonly raw?: Request; readonly socket?: Socket } | undefined;
type Response = (EventEmitter & { raw?: Response; destroyed: boolean; stream?: { close(): void } }) | undefined;

/** The sessions, with their last proof of identity, that have opened streams on a channel. */
const REGISTERED = new WeakMap<EventEmitter, Set<string>>();

/** Closes the GraphQL subscription (with its connection) or event stream that a call opens when its session ends. */
export function closeWithSession(sockets: OpenSockets, context: ExecutionContext, principal: Principal): void {
  const channel = channelOf(context);
  if (!channel) throw new Error('The subscription has no connection to close: return `extra` in its GraphQL context.');
  if (!channel.isOpen) return;
  const { emitters, close } = channel;
  // Further streams of the same session on one connection need no registration.
  const registered = REGISTERED.get(emitters[0]) ?? new Set();
  const proof = identityOf(principal);
  if (registered.has(proof)) return;
  REGISTERED.set(emitters[0], registered.add(proof));
  const unregister = sockets.register(principal, close);
  const end = (): void => {
    unregister();
    for (const emitter of emitters) emitter.off('close', end);
  };
  for (const emitter of emitters) emitter.once('close', end);
}

function channelOf(context: ExecutionContext): Channel | null {
  const webSocket = graphqlSocketOf(context);
  if (webSocket) {
    const isOpen = webSocket.readyState === webSocket.OPEN;
    return { emitters: [webSocket], isOpen, close: () => webSocket.close(4401, 'Unauthorized') };
  }
  const request = requestOf(context) as Request;
  const connection = request?.raw?.socket ?? request?.socket;
  if (!connection) return null;
  const response = responseOf(context) as unknown as Response;
  const raw = response?.raw ?? response;
  const isOpen = !connection.destroyed && raw?.destroyed !== true;
  // A response that waits for an earlier one on its connection has no socket, and emits no `close` with its connection.
  const emitters: Channel['emitters'] = raw ? [raw, connection] : [connection];
  const end = (): void => (raw?.stream ? raw.stream.close() : connection.destroySoon());
  // Sends first what the application writes for the end of the session.
  return { emitters, isOpen, close: () => setImmediate(end) };
}
