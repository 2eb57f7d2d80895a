import { once } from 'node:events';
import { get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Controller, Get, Sse } from '@nestjs/common';
import { Field, ObjectType, Query, ResolveField, Resolver, Subscription } from '@nestjs/graphql';
import { AllowApiKey, ApiKeys, AuthUser, CurrentUser, OpenSockets, OptionalAuth } from 'nestjs-session-auth';
import { interval, map, type Observable } from 'rxjs';
import { createKey } from '../../support/api-keys';
import { bearer, describeApplication, describeHttp } from '../../support/environment';
import { apollo, GraphqlConnection, mercurius } from '../../support/graphql-connection';
import { GUARD } from '../../support/handlers';
import { tokensOfArgument } from '../../support/header-tokens';
import { applicationStarter } from '../../support/start-for-test';
import type { PlatformName, TestApplication } from '../../support/test-application';

const GUARDED = 'subscription { ticks }';
const OPTIONAL = 'subscription { publicTicks }';

/** Yields until the subscription is closed. */
async function* ticking(): AsyncGenerator<string> {
  for (;;) {
    await pause(5);
    yield 'tick';
  }
}

@Resolver()
class TickResolver {
  @Query(() => String)
  hello(): string {
    return 'hello';
  }

  @AllowApiKey('orders:read')
  @Subscription(() => String, { resolve: (tick: string) => tick })
  ticks(): AsyncGenerator<string> {
    return ticking();
  }

  @OptionalAuth()
  @Subscription(() => String, { resolve: (tick: string) => tick })
  publicTicks(): AsyncGenerator<string> {
    return ticking();
  }
}

@ObjectType()
class Tick {
  @Field()
  text!: string;
}

@Resolver(() => Tick)
class ViewerResolver {
  @ResolveField(() => String)
  viewer(@CurrentUser() user: AuthUser): string {
    return user.username;
  }

  @GUARD
  @Subscription(() => Tick, { resolve: (text: string) => ({ text }) })
  seenTicks(): AsyncGenerator<string> {
    return ticking();
  }
}

let releaseSlow: () => void;

@Controller()
@AllowApiKey('orders:read')
class TickController {
  @Get('slow')
  slow(): Promise<void> {
    return new Promise((resolve) => (releaseSlow = resolve));
  }

  @Sse('ticks')
  ticks(): Observable<{ data: string }> {
    return interval(5).pipe(map(() => ({ data: 'tick' })));
  }
}

const GRAPHQL = {
  mercurius: mercurius({ subscription: true }),
  apollo: apollo(),
  'apollo whose context is that of the connection': apollo({ context: (context: object) => context }),
};

const start = applicationStarter();
const logOut = (app: TestApplication, token: string) => app.post('/auth/logout/all/', token).expect(200);
const revoke = async (app: TestApplication, id: string) => app.nest.get(ApiKeys).revoke(await app.userId(), id);

describe.each(Object.keys(GRAPHQL) as (keyof typeof GRAPHQL)[])('with %s', (driver) => {
  const platform: PlatformName = driver === 'mercurius' ? 'fastify' : 'express';
  const options = { platform, imports: [GRAPHQL[driver]], providers: [TickResolver, ViewerResolver] };

  describeApplication('subscriptions', options, ({ app }) => {
    let subscriber: GraphqlConnection;
    afterEach(() => subscriber.close());

    const subscribe = async (token: string | null, query: string): Promise<void> => {
      subscriber = await GraphqlConnection.open(app, token === null ? {} : bearer(token));
      expect(await subscriber.subscribe(query)).toMatchObject({ type: 'next' });
    };
    const untilClosed = () => subscriber.until(() => subscriber.closedWith !== null);

    it.each([GUARDED, OPTIONAL, 'subscription { seenTicks { text } }'])(
      '%s ends when the session ends',
      async (query) => {
        const { access_token: token } = await app.login();
        await subscribe(token, query);
        await logOut(app, token);
        await untilClosed();
      },
    );

    it('a subscription ends when its API key is revoked, but not when another key is', async () => {
      const [{ key, id }, other] = [await createKey(app), await createKey(app)];
      await subscribe(key, GUARDED);
      await revoke(app, other.id);
      expect(subscriber.closedWith).toBeNull();
      await revoke(app, id);
      await untilClosed();
    });

    it('each event of a subscription receives the user as of the event, loaded once', async () => {
      const { access_token } = await app.login();
      const rename = (from: string, to: string) =>
        app.dataSource.getRepository(AuthUser).update({ username: from }, { username: to });
      const load = jest.spyOn(app.auth, 'loadUser');
      await subscribe(access_token, 'subscription { seenTicks { viewer again: viewer } }');
      const last = (): string => JSON.stringify(subscriber.received.at(-1));
      expect(last()).toContain('"alice"');
      await rename('alice', 'alicia');
      await subscriber.until(() => last().includes('"alicia"'));
      subscriber.close();
      await rename('alicia', 'alice');
      await pause(50);
      expect(load.mock.calls.length).toBeLessThanOrEqual(subscriber.received.length + 5);
      load.mockRestore();
    });

    it('a subscription without a session continues', async () => {
      const { access_token: token } = await app.login();
      await subscribe(null, OPTIONAL);
      await logOut(app, token);
      const seen = subscriber.received.length;
      await subscriber.until(() => subscriber.received.length > seen + 3);
    });

    it('many subscriptions of one socket are registered once, and not after the socket has closed', async () => {
      const { access_token, session_id } = await app.login();
      const register = jest.spyOn(app.nest.get(OpenSockets), 'register');
      await subscribe(access_token, GUARDED);
      for (const alias of ['b', 'c']) await subscriber.subscribe(`subscription { ${alias}: ticks }`);
      expect(register).toHaveBeenCalledTimes(1);
      subscriber.close();
      await untilClosed();
      await pause(20);
      expect(app.nest.get(OpenSockets).closeForSessions([session_id])).toBe(0);
      register.mockRestore();
    });
  });
});

it('a subscription is refused if its context contains nothing that can be closed', async () => {
  const context = ({ connectionParams }: { connectionParams?: { token: string } }): object => ({ ...connectionParams });
  const app = await start({
    auth: { tokenSource: tokensOfArgument(2) },
    imports: [apollo({ subscriptions: { 'graphql-ws': { context } as never } })],
    providers: [TickResolver],
  });
  const subscriber = await GraphqlConnection.open(app, {}, { token: (await app.login()).access_token });
  await subscriber.subscribe(GUARDED);
  expect(JSON.stringify(subscriber.received)).toContain('return `extra` in its GraphQL context');
  subscriber.close();
});

describeHttp('streams of server-sent events', { controllers: [TickController] }, ({ app }) => {
  it('a stream that waits for an earlier response of its connection ends when the session ends', async () => {
    const { access_token: token } = await app.login();
    const socket = await pipelined(['/slow', '/ticks'], token);
    await logOut(app, token);
    releaseSlow();
    await once(socket, 'close');
  });

  it('streams that wait for an earlier response are unregistered when their connection closes', async () => {
    const { access_token, session_id } = await app.login();
    const socket = await pipelined(['/slow', '/ticks', '/ticks'], access_token);
    socket.destroy();
    await pause(50);
    expect(app.nest.get(OpenSockets).closeForSessions([session_id])).toBe(0);
    releaseSlow();
  });

  /** Sends requests on one connection without waiting for the responses. */
  async function pipelined(paths: readonly string[], accessToken: string): Promise<Socket> {
    const register = jest.spyOn(app.nest.get(OpenSockets), 'register');
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
    const lines = ['Host: x', `Authorization: Bearer ${accessToken}`, '', ''];
    socket.on('error', () => undefined).resume();
    socket.write(paths.flatMap((path) => [`GET ${path} HTTP/1.1`, ...lines].join('\r\n')).join(''));
    while (register.mock.calls.length < paths.length - 1) await pause(5);
    register.mockRestore();
    return socket;
  }

  /** Opens a stream, ends what it was authenticated with, and waits until the stream closes. */
  async function untilClosed(token: string, end: () => Promise<unknown>): Promise<void> {
    const [response] = await once(get(`${app.url}/ticks`, { headers: bearer(token) }), 'response');
    await once(response as NodeJS.EventEmitter, 'data');
    const closed = new Promise((resolve) => response.once('close', resolve).once('error', resolve).resume());
    await end();
    await closed;
  }

  it('a stream ends when the session ends', async () => {
    const { access_token: token } = await app.login();
    await untilClosed(token, async () => logOut(app, token));
  });

  it('a stream ends when its API key is revoked', async () => {
    const { key, id } = await createKey(app);
    await untilClosed(key, () => revoke(app, id));
  });
});
