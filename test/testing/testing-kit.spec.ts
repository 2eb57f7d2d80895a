import { Controller, Get, type INestApplication, Req, UseGuards } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  type AuthPrincipal,
  BearerAuthGuard,
  CurrentPrincipal,
  CurrentSession,
  CurrentUser,
  OptionalAuth,
  Public,
  RequireRecentLogin,
  type SessionInfo,
} from 'nestjs-session-auth';
import { CheapPasswordHasher, actingAs, guardFor, recordSignals } from 'nestjs-session-auth/testing';
import request from 'supertest';
import { MINUTE } from '../support/driven-clock';
import { describeApplication, userIdOf } from '../support/environment';

@Controller('payout')
class PayoutController {
  @Get()
  @RequireRecentLogin({ withinSeconds: 60, methods: ['otp'] })
  payOut(): object {
    return { paid: true };
  }
}

const options = { auth: { passwordHasher: CheapPasswordHasher }, controllers: [PayoutController] };

describeApplication('the testing kit', options, ({ app }) => {
  it('actingAs() opens a session without a password, emits user_logged_in, and refuses an unknown user', async () => {
    const id = await userIdOf(app);
    const signals = recordSignals(app.nest);
    const session = await actingAs(app.nest, { id }, { ipAddress: '192.0.2.1' });
    await app.http.get('/me').set(session.headers).expect(200);
    expect(signals.of('user_logged_in')).toMatchObject([{ userId: id, session: { id: session.sessionId } }]);
    app.clock.advance(15 * MINUTE);
    await app.http.get('/me').set(session.headers).expect(401);
    signals.clear();
    expect(signals.all).toEqual([]);
    const unknown = actingAs(app.nest, '00000000-0000-4000-8000-000000000000');
    await expect(unknown).rejects.toMatchObject({ code: 'unknown_user' });
  });

  it('a test can act as a user with given methods and data', async () => {
    const id = await userIdOf(app);
    const { headers: headersWithoutOtp } = await actingAs(app.nest, id);
    const proofs = { methods: ['pwd', 'otp'], data: { tenant: 'example' } };
    const { headers, accessToken } = await actingAs(app.nest, id, {}, proofs);
    await app.http.get('/payout').set(headersWithoutOtp).expect(403);
    await app.http.get('/payout').set(headers).expect(200, { paid: true });
    expect((await app.auth.authenticate(accessToken))!.data).toEqual(proofs.data);
    app.clock.advance(MINUTE);
    await app.http.get('/payout').set(headers).expect(403);
  });
});

@Controller()
@UseGuards(BearerAuthGuard)
class ProfileController {
  @Get('all')
  all(
    @CurrentPrincipal() { userId, sessionId, methods, data }: AuthPrincipal,
    @CurrentSession() { id, isCurrent }: SessionInfo,
    @CurrentUser() user: object,
    @Req() request: { readonly user: object },
  ): object {
    return { userId, isSame: id === sessionId, isCurrent, methods: Object.keys(methods), data, user, of: request.user };
  }

  @Get('optional')
  @OptionalAuth()
  optional(@CurrentUser() user: object | null): object {
    return { user };
  }

  @Get('recent')
  @RequireRecentLogin({ withinSeconds: 60, methods: ['otp'] })
  recent(): object {
    return {};
  }

  @Get('public')
  @Public()
  open(@Req() { auth }: { readonly auth?: object }): object {
    return { isAuthenticated: auth !== undefined };
  }
}

describe('guardFor()', () => {
  const alice = { id: 1, username: 'alice', roles: ['admin'] };
  const proofs = { methods: ['pwd', 'hwk'], data: { tenant: 'example' } };
  let app: INestApplication;

  beforeAll(async () => {
    const module = await Test.createTestingModule({ controllers: [ProfileController] })
      .overrideGuard(BearerAuthGuard)
      .useValue(guardFor(alice, proofs))
      .compile();
    app = await module.createNestApplication({ logger: false }).init();
  });
  afterAll(() => app.close());

  it.each([
    ['all', { userId: 1, isSame: true, isCurrent: true, ...proofs, user: alice, of: alice }],
    ['optional', { user: alice }],
    ['recent', {}],
    ['public', { isAuthenticated: false }],
  ])('a controller alone receives the user of the guard on the route %s', async (path, expected) => {
    await request(app.getHttpServer()).get(`/${path}`).expect(200, expected);
  });
});

it('the testing hasher fails in production', () => {
  const environment = jest.replaceProperty(process.env, 'NODE_ENV', 'production');
  expect(() => new CheapPasswordHasher()).toThrow("NODE_ENV is not 'test'");
  environment.restore();
});
