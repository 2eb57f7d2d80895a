import { Controller, type Type } from '@nestjs/common';
import { Query, Resolver } from '@nestjs/graphql';
import {
  type ClientProxy,
  ClientProxyFactory,
  MessagePattern,
  type MicroserviceOptions,
  Transport,
} from '@nestjs/microservices';
import { WsAdapter } from '@nestjs/platform-ws';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { type Handshake, type PresentedToken, rememberHandshake, TokenSource } from 'nestjs-session-auth';
import type { TransportCall } from 'nestjs-session-auth';
import { firstValueFrom } from 'rxjs';
import { bearer } from '../../support/environment';
import { apollo } from '../../support/graphql-connection';
import { classOf, controllerOf, type Handlers } from '../../support/handlers';
import { freePort } from '../../support/port';
import type { TestApplication, TestApplicationOptions } from '../../support/test-application';
import { connectWs } from './chat';

/** Finds the token in the payload of a message over TCP. */
class EnvelopeTokens extends TokenSource {
  find(call: TransportCall): PresentedToken | null {
    if (call.getType() !== 'rpc') return null;
    const { accessToken } = call.getArgByIndex<{ accessToken?: string } | null>(0) ?? {};
    return accessToken === undefined ? null : { accessToken, client: { userAgent: 'orders', realm: 'acme' } };
  }
}

class RememberingGateway {
  handleConnection(client: object, request: Handshake): void {
    rememberHandshake(client, request);
  }
}

interface Answer {
  readonly data: Record<string, string> | null;
  readonly errors?: readonly { readonly extensions: { readonly authCode?: string } }[];
}

/** The same handlers as routes, queries, and messages of WebSockets and of microservices. */
export class EveryTransport {
  private messages!: ClientProxy;
  readonly options: Omit<TestApplicationOptions, 'database'>;

  constructor(
    handlers: Handlers,
    { auth, ...more }: Omit<TestApplicationOptions, 'database'> = {},
    { inheritAppConfig = true, hasSource = true } = {},
  ) {
    const query = (name: string) => Query(() => String, { name, nullable: true });
    const toText = (result: unknown) => JSON.stringify(result);
    const toMessage = (data: unknown, event: string) => ({ event, data });
    const gateway = { mapping: SubscribeMessage, base: RememberingGateway, respond: toMessage };
    this.options = {
      ...more,
      auth: { ...(hasSource && { tokenSource: EnvelopeTokens }), ...auth },
      imports: [apollo()],
      controllers: [
        controllerOf('handlers', [], handlers),
        classOf('Messages', [Controller()], handlers, { mapping: MessagePattern }),
      ],
      providers: [
        classOf('Queries', [Resolver()], handlers, { mapping: query, respond: toText }),
        classOf('Gateway', [WebSocketGateway()], handlers, gateway),
      ] as Type[],
      configure: async (nest) => {
        nest.useWebSocketAdapter(new WsAdapter(nest));
        const server = { transport: Transport.TCP, options: { host: '127.0.0.1', port: await freePort() } } as const;
        nest.connectMicroservice<MicroserviceOptions>(server, { inheritAppConfig });
        await nest.startAllMicroservices();
        this.messages = ClientProxyFactory.create(server);
      },
    };
  }

  readonly close = () => this.messages.close();

  /** Sends a message over TCP, and returns the result of its handler, or the error as `{ error }`. */
  readonly send = (pattern: string, data: unknown): Promise<unknown> =>
    firstValueFrom(this.messages.send<unknown>(pattern, data)).catch((error: unknown) => ({ error }));

  /** Calls a handler over HTTP, GraphQL, WebSockets and TCP. Returns the results, or the codes of the errors. */
  async ask(app: TestApplication, name: string, token: string | null, data: unknown = {}, more: object = {}) {
    const headers = { ...(token !== null && bearer(token)), ...more };
    const { body, text, ok } = await app.http.get(`/handlers/${name}`).set(headers);
    const { body: answer } = await app.http
      .post('/graphql')
      .set(headers)
      .send({ query: `{ ${name} }` });
    const { data: found, errors } = answer as Answer;
    const payload = token === null ? data : { ...(data as object), accessToken: token };
    const message = await this.send(name, payload);
    const { error } = (message ?? {}) as { error?: { code?: string } };
    return [
      ok ? (Array.isArray(body) ? body : text) : ((body as { code?: string }).code ?? 'error'),
      errors ? (errors[0]!.extensions.authCode ?? 'error') : JSON.parse(found![name]!),
      await (await connectWs(app, headers))(name, data),
      error ? (error.code ?? 'error') : message,
    ];
  }
}
