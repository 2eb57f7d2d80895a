import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import type { DynamicModule } from '@nestjs/common';
import { GraphQLModule } from '@nestjs/graphql';
import { MercuriusDriver, type MercuriusDriverConfig } from '@nestjs/mercurius';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { TestApplication } from './test-application';

export interface GraphqlMessage {
  readonly id?: string;
  readonly type: string;
  readonly payload?: unknown;
}

/** A WebSocket with the protocol graphql-transport-ws. */
export class GraphqlConnection {
  readonly received: GraphqlMessage[] = [];
  closedWith: number | null = null;
  private operations = 0;

  private constructor(private readonly socket: WebSocket) {
    socket.on('message', (data) => this.received.push(JSON.parse((data as Buffer).toString()) as GraphqlMessage));
    socket.on('close', (code) => (this.closedWith = code));
  }

  /** @param payload what the page sends in `connection_init`, because it can set no headers of the handshake */
  static async open(
    app: Pick<TestApplication, 'url'>,
    headers: Record<string, string>,
    payload?: object,
  ): Promise<GraphqlConnection> {
    const socket = new WebSocket(`${app.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', { headers });
    const connection = new GraphqlConnection(socket);
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'connection_init', payload }));
    await connection.until(() => connection.received.length === 1);
    return connection;
  }

  /** Starts an operation, and returns its first message. */
  async subscribe(query: string): Promise<GraphqlMessage> {
    const id = String(++this.operations);
    this.socket.send(JSON.stringify({ id, type: 'subscribe', payload: { query } }));
    const first = (): GraphqlMessage | undefined => this.received.find((message) => message.id === id);
    await this.until(() => first() !== undefined);
    return first()!;
  }

  async until(isTrue: () => boolean): Promise<void> {
    for (let tries = 0; !isTrue(); tries++) {
      if (tries === 500) throw new Error(`Not reached: ${JSON.stringify(this.received.slice(-3))}`);
      await pause(10);
    }
  }

  close(): void {
    this.socket.terminate();
  }
}

/** The GraphQL module of Nest with Mercurius. Jest does not support the way in which Mercurius imports its cache. */
export function mercurius(config: Partial<MercuriusDriverConfig> = {}): DynamicModule {
  const own = { driver: MercuriusDriver, autoSchemaFile: true, cache: false as never };
  return GraphQLModule.forRoot<MercuriusDriverConfig>({ ...own, ...config });
}

/** The GraphQL module of Nest with Apollo, with subscriptions over `graphql-ws`. */
export function apollo(config: Partial<ApolloDriverConfig> = {}): DynamicModule {
  const own = { driver: ApolloDriver, autoSchemaFile: true, subscriptions: { 'graphql-ws': true } };
  return GraphQLModule.forRoot<ApolloDriverConfig>({ ...own, ...config });
}
