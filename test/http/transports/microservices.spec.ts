import { Controller, UseGuards } from '@nestjs/common';
import { ClientProxyFactory, MessagePattern, Payload, Transport } from '@nestjs/microservices';
import type { ClientProxy, MicroserviceOptions } from '@nestjs/microservices';
import {
  AuthService,
  BearerAuthGuard,
  CurrentSession,
  CurrentUser,
  OptionalAuth,
  Public,
  TokenSource,
  type AuthModuleOptions,
  type AuthUser,
  type PresentedToken,
  type SessionInfo,
  type TransportCall,
} from 'nestjs-session-auth';
import { firstValueFrom } from 'rxjs';
import { freePort } from '../../support/port';
import { describeApplication } from '../../support/environment';
import { applicationStarter } from '../../support/start-for-test';
import type { TestApplication } from '../../support/test-application';

const MISSING = {
  status: 'error',
  code: 'credentials_missing',
  message: 'Authentication credentials were not provided.',
};
const INVALID = { status: 'error', code: 'access_token_invalid', message: 'Invalid or expired access token.' };

@Controller()
@UseGuards(BearerAuthGuard)
class OrdersController {
  constructor(private readonly auth: AuthService) {}

  @MessagePattern('me')
  me(@CurrentUser() user: AuthUser, @CurrentSession() session: SessionInfo): object {
    return { username: user.username, sessionId: session.id };
  }

  @OptionalAuth()
  @MessagePattern('who')
  who(@CurrentUser() user: AuthUser): string {
    return user ? user.username : 'nobody';
  }

  @Public()
  @MessagePattern('open')
  open(@Payload() data: unknown): unknown {
    return data;
  }

  @Public()
  @MessagePattern('login')
  login(): Promise<object> {
    return this.auth.login({ username: 'alice', password: 'wrong' });
  }
}

/** Finds the token of the user in the payload of a message. */
class EnvelopeTokens extends TokenSource {
  find(call: TransportCall): PresentedToken | null {
    if (call.getType() !== 'rpc') return null;
    const { accessToken } = call.getArgByIndex<{ accessToken?: string } | null>(0) ?? {};
    return accessToken === undefined ? null : { accessToken, client: { userAgent: 'orders' } };
  }
}

let port: number;
let client: ClientProxy;

/** Starts the TCP server of an application, and connects the client. */
const connect = (inheritAppConfig: boolean) => async (nest: TestApplication['nest']) => {
  port = await freePort();
  const options = { host: '127.0.0.1', port };
  nest.connectMicroservice<MicroserviceOptions>({ transport: Transport.TCP, options }, { inheritAppConfig });
  await nest.startAllMicroservices();
  client = ClientProxyFactory.create({ transport: Transport.TCP, options });
};
const send = (pattern: string, data: unknown): Promise<unknown> =>
  firstValueFrom(client.send<unknown>(pattern, data)).catch((error: unknown) => ({ error }));

describe.each([false, true])('microservice messages, with a token source: %s', (hasTokenSource) => {
  const auth: AuthModuleOptions = hasTokenSource ? { tokenSource: EnvelopeTokens } : {};
  const options = { auth, controllers: [OrdersController], configure: connect(true) };

  describeApplication('messages', options, (env) => {
    let app: TestApplication;
    beforeEach(() => void ({ app } = env));
    afterAll(() => client.close());

    it('a handler receives the user and the session only if a token source finds the token, until the session ends', async () => {
      const { access_token: accessToken, session_id: sessionId } = await app.login();
      const result = await send('me', { accessToken });
      expect(result).toEqual(hasTokenSource ? { username: 'alice', sessionId } : { error: MISSING });
      await app.post('/auth/logout', accessToken).expect(200);
      expect(await send('me', { accessToken })).toEqual({ error: hasTokenSource ? INVALID : MISSING });
    });

    it('a message without a token is refused with the documented error, and no unhandled exception is logged', async () => {
      for (const data of [{}, '', 1, [], true]) expect(await send('me', data)).toEqual({ error: MISSING });
      expect(app.logs.filter((line) => line.includes('RpcExceptionsHandler'))).toEqual([]);
    });

    it('a handler with @OptionalAuth() accepts a missing token, and refuses an invalid token if there is a token source', async () => {
      const { access_token: accessToken } = await app.login();
      expect(await send('who', { accessToken })).toBe(hasTokenSource ? 'alice' : 'nobody');
      for (const data of [{}, '', 1]) expect(await send('who', data)).toBe('nobody');
      expect(await send('who', { accessToken: 'token' })).toEqual(hasTokenSource ? { error: INVALID } : 'nobody');
    });

    it('a public handler accepts a message without a token, and the error filter converts an AuthError that it throws', async () => {
      const error = { status: 'error', code: 'invalid_credentials', message: 'Invalid credentials.' };
      expect(await send('login', {})).toEqual({ error });
      expect(await send('open', 'text')).toBe('text');
    });
  });
});

@Controller()
class PlainController {
  @MessagePattern('plain')
  plain(): string {
    return 'unguarded';
  }
}

const start = applicationStarter({ auth: { globalGuard: true }, controllers: [PlainController] });

it.each([
  [true, { error: MISSING }],
  [false, 'unguarded'],
])('the global guard runs for microservice messages only with inheritAppConfig (%s)', async (inherits, result) => {
  await start({ configure: connect(inherits) });
  expect(await send('plain', {})).toEqual(result);
  await client.close();
});
