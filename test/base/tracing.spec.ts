import { context, type Context, type ContextManager, ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { AsyncLocalStorage } from 'node:async_hooks';
import { describeApplication } from '../support/environment';
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

/** Handles each request in a span, as instrumentations do. */
const configure = (nest: TestApplication['nest']): void =>
  void nest.use((_request: unknown, _response: unknown, next: () => void) =>
    tracer.startActiveSpan('incoming', (span) => {
      span.end();
      next();
    }),
  );

beforeAll(() => {
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new Contexts());
});
afterAll(() => {
  trace.disable();
  context.disable();
});

describeApplication('spans', { configure }, ({ app }) => {
  beforeEach(() => exporter.reset());

  /** Returns the spans of the library, in the order in which they ended. */
  const spansOf = (name: string) => exporter.getFinishedSpans().filter((span) => span.name === `session_auth.${name}`);
  const outcomesOf = (name: string): unknown[] =>
    spansOf(name).map(({ attributes, status }) => [attributes['session_auth.outcome'], status.code]);

  it('the lookup of a token has a span within that of its request', async () => {
    const { access_token: token } = await app.login();
    exporter.reset();
    await app.get('/me', token).expect(200);
    const [span] = spansOf('authenticate');
    const [request] = exporter.getFinishedSpans().filter(({ name }) => name === 'incoming');
    expect(span!.parentSpanContext).toEqual(request!.spanContext());
    expect(outcomesOf('authenticate')).toEqual([['success', SpanStatusCode.UNSET]]);
  });

  it('spans contain the outcome, and only failures set their status', async () => {
    const { access_token: token, refresh_token: refresh } = await app.login();
    await app.http.post('/auth/login').send({ username: 'alice', password: 'wrong' }).expect(400);
    await app.refresh(refresh).expect(200);
    await app.refresh(refresh).expect(400);
    await app.get('/me', token).expect(401);
    const tap = new Tap(app);
    tap.fail();
    await app.get('/me', token).expect(503);
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
    await app.get('/me', token).set('User-Agent', 'Firefox').expect(200);
    await app.refresh(refresh).expect(200);
    const spans = ['login', 'refresh', 'authenticate'].flatMap(spansOf);
    expect(spans).toHaveLength(4);
    const text = JSON.stringify(
      spans.map(({ name, attributes, events, status, links }) => [name, attributes, events, status, links]),
    );
    const userId = await app.userId();
    for (const secret of ['alice', 'bob', PASSWORD, userId, '127.0.0.1', 'Firefox', id, token, refresh]) {
      expect(text).not.toContain(secret);
    }
  });
});
