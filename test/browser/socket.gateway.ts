import { ModuleRef } from '@nestjs/core';
import { WebSocketGateway, type OnGatewayConnection } from '@nestjs/websockets';
import { AuthService, rememberHandshake, socketAccessToken, type Handshake } from 'nestjs-session-auth';
import type { WebSocket } from 'ws';

/** A gateway of the application. It greets a user whose handshake is authenticated. */
@WebSocketGateway({ path: '/socket' })
export class SocketGateway implements OnGatewayConnection {
  constructor(private readonly module: ModuleRef) {}

  async handleConnection(client: WebSocket, request: Handshake): Promise<void> {
    rememberHandshake(client, request);
    client.send(await this.answer(client));
  }

  private async answer(client: WebSocket): Promise<string> {
    try {
      const { accessToken, client: info } = socketAccessToken(client);
      const principal = await this.module.get(AuthService, { strict: false }).authenticate(accessToken, info);
      return principal ? 'welcome' : 'access_token_invalid';
    } catch (error) {
      return (error as { code: string }).code;
    }
  }
}
