import { once } from 'node:events';
import { UseFilters, UseGuards, type Type } from '@nestjs/common';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { WsAdapter } from '@nestjs/platform-ws';
import { ConnectedSocket, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { AuthErrorFilter, AuthService, BearerAuthGuard, CurrentSession, CurrentUser } from 'nestjs-session-auth';
import { OptionalAuth, rememberHandshake, socketAccessToken } from 'nestjs-session-auth';
import type { AuthUser, Handshake, SessionInfo } from 'nestjs-session-auth';
import { io, type ManagerOptions, type SocketOptions } from 'socket.io-client';
import { WebSocket } from 'ws';
import type { TestApplication, TestApplicationOptions } from '../../support/test-application';

@WebSocketGateway()
export class ChatGateway {
  constructor(private readonly auth: AuthService) {}

  handleConnection(client: object, request: Handshake): void {
    rememberHandshake(client, request);
  }

  @UseGuards(BearerAuthGuard)
  @SubscribeMessage('me')
  me(@CurrentUser() user: AuthUser, @CurrentSession() session: SessionInfo): object {
    return { event: 'me', data: [user.username, session.id] };
  }

  @OptionalAuth()
  @SubscribeMessage('visitor')
  visitor(@CurrentUser() user: AuthUser | null, @CurrentSession() session: SessionInfo | null): object {
    return { event: 'visitor', data: [user?.username ?? 'nobody', session && session.id] };
  }

  /** Authenticates the handshake without a guard. */
  @UseFilters(AuthErrorFilter)
  @SubscribeMessage('handshake')
  async handshake(@ConnectedSocket() socket: object): Promise<object> {
    const { accessToken, client } = socketAccessToken(socket);
    return { event: 'handshake', data: (await this.auth.authenticate(accessToken, client)) ? 'welcome' : 'invalid' };
  }
}

/** The options of an application with a gateway. */
export const gatewayOptions = (gateway: Type, adapter: typeof WsAdapter | typeof IoAdapter = WsAdapter) => ({
  providers: [gateway],
  configure: ((nest) => void nest.useWebSocketAdapter(new adapter(nest))) as TestApplicationOptions['configure'] & {},
});

/** Sends a message. Returns the data of the response, the code of an error, or `error` for an error without a code. */
export type Send = (event: string, data?: unknown) => Promise<unknown>;

const dataOf = (event: string, data: unknown): unknown =>
  event === 'exception' ? ((data as { code?: string }).code ?? 'error') : data;

const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

export function openWs({ url }: TestApplication, headers: Record<string, string> = {}): WebSocket {
  const socket = new WebSocket(url.replace('http', 'ws'), { headers });
  closing.push(() => socket.close());
  return socket;
}

export async function connectWs(...args: Parameters<typeof openWs>): Promise<Send> {
  const socket = openWs(...args);
  await once(socket, 'open');
  return async (event, data) => {
    socket.send(JSON.stringify({ event, data }));
    const [message] = (await once(socket, 'message')) as [Buffer];
    const answer = JSON.parse(message.toString()) as { event: string; data: unknown };
    return dataOf(answer.event, answer.data);
  };
}

export async function connectIo(app: TestApplication, options: Partial<ManagerOptions & SocketOptions>): Promise<Send> {
  const socket = io(app.url, { transports: ['websocket'], reconnection: false, forceNew: true, ...options });
  closing.push(() => void socket.disconnect());
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  return async (event, data) => {
    const answer = new Promise((resolve) =>
      socket.onAny((name: string, response: unknown) => resolve(dataOf(name, response))),
    );
    socket.emit(event, data);
    return answer.finally(() => socket.offAny());
  };
}
