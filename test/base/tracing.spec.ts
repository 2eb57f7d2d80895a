import { Controller, Get, UseGuards } from '@nestjs/common';
import { Query, Resolver } from '@nestjs/graphql';
import { ClientProxyFactory, MessagePattern, ServerTCP, Transport, type ClientProxy } from '@nestjs/microservices';
import { context, type Context, type ContextManager, ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { BearerAuthGuard, TokenSource, type PresentedToken, type TransportCall } from 'nestjs-session-auth';
import { AsyncLocalStorage } from 'node:async_hooks';
import { firstValueFrom } from 'rxjs';
import { describeApplication, userIdOf } from '../support/environment';
import { apollo } from '../support/graphql-connection';
import { freePort } from '../support/port';
import { Tap } from '../support/tap';
import { PASSWORD, type TestApplication } from '../support/test-application';

const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const tracer = provider.getTracer('the application');

/** What `@opentelemetry/context-async-hooks` does. */
class Contexts implements ContextManager {
  private readonly store = new AsyncLocalStorage<Context>();
  active = (): Context => this.store.getStore() ?? ROOT_CONTEXT;
  with = ((active, work, self, ...args) =>
    this.store.run(active, () => work.apply(self, args))) as ContextManager['with'];
  bind = ((_, target) => target) as ContextManager['bind'];
  enable = (): this => this;
  disable = (): this => this;
}

/** Runs what an application does for one call in a span, as instrumentations do. */
const incoming = <T>(run: () => T): T =>
  tracer.startActiveSpan('incoming', (span) => {
    span.end();
    return run();
  });

class TracedServer extends ServerTCP {
  override handleMessage(...args: Parameters<ServerTCP['handleMessage']>): Promise<void> {
    return incoming(() => super.handleMessage(...args));
  }
}

class Tokens extends TokenSource {
  find(call: TransportCall): PresentedToken | null {
    return call.getType() === 'rpc' ? call.getArgByIndex<PresentedToken>(0) : null;
  }
}

@Controller()
@Resolver()
@UseGuards(BearerAuthGuard)
class Greetings {
  @Get('hello')
  @MessagePattern('hello')
  @Query(() => String)
  hello(): string {
    return 'hello';
  }
}

beforeAll(() => {
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new Contexts());
});
afterAll(() => {
  client.close();
  trace.disable();
  context.disable();
});

let client: ClientProxy;
const options = {
  auth: { tokenSource: Tokens },
  imports: [apollo()],
  controllers: [Greetings],
  providers: [Greetings],
  configure: async (nest: TestApplication['nest']) => {
    nest.use((_request: unknown, _response: unknown, next: () => void) => incoming(next));
    const port = await freePort();
    nest.connectMicroservice({ strategy: new TracedServer({ host: '127.0.0.1', port }) }, { inheritAppConfig: true });
    await nest.startAllMicroservices();
    client = ClientProxyFactory.create({ transport: Transport.TCP, options: { host: '127.0.0.1', port } });
  },
};

describeApplication('spans', options, ({ app }) => {
  beforeEach(() => exporter.reset());

  /** Returns the spans of the library, in the order in which they ended. */
  const spansOf = (name: string) => exporter.getFinishedSpans().filter((span) => span.name === `session_auth.${name}`);
  const outcomesOf = (name: string): unknown[] =>
    spansOf(name).map(({ attributes, status }) => [attributes['session_auth.outcome'], status.code]);

  it.each<[transport: string, call: (token: string) => PromiseLike<unknown>]>([
    ['HTTP', (token) => app.get('/hello', token).expect(200)],
    ['GraphQL', (token) => app.post('/graphql', token, { query: '{ hello }' }).expect(200)],
    ['microservices', (token) => firstValueFrom(client.send('hello', { accessToken: token }))],
  ])('over %s, the lookup of a token has a span within that of its call', async (_, call) => {
    const { access_token: token } = await app.login();
    exporter.reset();
    await call(token);
    const [span] = spansOf('authenticate');
    const callers = exporter.getFinishedSpans().filter(({ name }) => name === 'incoming');
    expect(callers.map((caller) => caller.spanContext().spanId)).toContain(span!.parentSpanContext?.spanId);
    expect(outcomesOf('authenticate')).toEqual([['success', SpanStatusCode.UNSET]]);
  });

  it('spans contain the outcome, and only failures set their status', async () => {
    const { access_token: token, refresh_token: refresh } = await app.login();
    await app.http.post('/auth/login').send({ username: 'alice', password: 'wrong' }).expect(400);
    await app.refresh(refresh).expect(200);
    await app.refresh(refresh).expect(400);
    await app.get('/hello', token).expect(401);
    const tap = new Tap(app);
    tap.fail();
    await app.get('/hello', token).expect(503);
    tap.hook = {};
    const { UNSET, ERROR } = SpanStatusCode;
    for (const [name, first, second, status] of [
      ['login', 'success', 'invalid_credentials', UNSET],
      ['refresh', 'success', 'invalid_refresh_token', UNSET],
      ['authenticate', 'access_token_invalid', 'database_unavailable', ERROR],
    ] as const) {
      expect([name, ...outcomesOf(name)]).toEqual([name, [first, UNSET], [second, status]]);
    }
  });

  it('spans contain no user, session, address, User-Agent or token', async () => {
    const { access_token: token, refresh_token: refresh, session_id: id } = await app.login();
    await app.http.post('/auth/login').send({ username: 'bob', password: 'wrong' }).expect(400);
    await app.get('/hello', token).set('User-Agent', 'Firefox').expect(200);
    await app.refresh(refresh).expect(200);
    const spans = ['login', 'refresh', 'authenticate'].flatMap(spansOf);
    expect(spans).toHaveLength(4);
    const text = JSON.stringify(
      spans.map(({ name, attributes, events, status, links }) => [name, attributes, events, status, links]),
    );
    const userId = await userIdOf(app);
    for (const secret of ['alice', 'bob', PASSWORD, userId, '127.0.0.1', 'Firefox', id, token, refresh]) {
      expect(text).not.toContain(secret);
    }
  });
});
