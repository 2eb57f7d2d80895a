import { Controller, type Type } from '@nestjs/common';
import { Query, Resolver } from '@nestjs/graphql';
import { MessagePattern } from '@nestjs/microservices';
import { WsAdapter } from '@nestjs/platform-ws';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { type Handshake, type PresentedToken, rememberHandshake, TokenSource } from 'nestjs-session-auth';
import type { TransportCall } from 'nestjs-session-auth';
import { bearer } from '../../support/environment';
import { apollo } from '../../support/graphql-connection';
import { classOf, controllerOf, type Handlers } from '../../support/handlers';
import { TcpMessages } from '../../support/tcp-messages';
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
  readonly messages: TcpMessages;
  readonly options: Omit<TestApplicationOptions, 'database'>;

  constructor(
    handlers: Handlers,
    { auth, ...more }: Omit<TestApplicationOptions, 'database'> = {},
    { inheritAppConfig = true, hasSource = true } = {},
  ) {
    this.messages = new TcpMessages(inheritAppConfig);
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
        await this.messages.configure(nest);
      },
    };
  }

  readonly close = () => this.messages.close();

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
    const message = await this.messages.send(name, payload);
    const { error } = (message ?? {}) as { error?: { code?: string } };
    return [
      ok ? (Array.isArray(body) ? body : text) : ((body as { code?: string }).code ?? 'error'),
      errors ? (errors[0]!.extensions.authCode ?? 'error') : JSON.parse(found![name]!),
      await (await connectWs(app, headers))(name, data),
      error ? (error.code ?? 'error') : message,
    ];
  }
}
