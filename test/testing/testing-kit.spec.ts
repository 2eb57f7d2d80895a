import { createParamDecorator, type INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  type AuthPrincipal,
  BearerAuthGuard,
  CurrentPrincipal,
  CurrentSession,
  CurrentUser,
} from 'nestjs-session-auth';
import { OptionalAuth, Public, RequireRecentLogin } from 'nestjs-session-auth';
import { CheapPasswordHasher, actingAs, guardFor, recordSignals } from 'nestjs-session-auth/testing';
import request from 'supertest';
import { MINUTE } from '../support/driven-clock';
import { describeApplication } from '../support/environment';
import { controllerOf, GUARD, OfRequest, returning } from '../support/handlers';

const RECENT = RequireRecentLogin({ withinSeconds: 60, methods: ['otp'] });

const options = {
  auth: { passwordHasher: CheapPasswordHasher },
  controllers: [controllerOf('', [], { payout: [RECENT] })],
};

describeApplication('the testing kit', options, ({ app }) => {
  it('actingAs() opens a session without a password, emits user_logged_in, and refuses an unknown user', async () => {
    const id = await app.userId();
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
    const id = await app.userId();
    const { headers: headersWithoutOtp } = await actingAs(app.nest, id);
    const proofs = { methods: ['pwd', 'otp'], data: { tenant: 'example' } };
    const { headers, accessToken } = await actingAs(app.nest, id, {}, proofs);
    await app.http.get('/payout').set(headersWithoutOtp).expect(403);
    await app.http.get('/payout').set(headers).expect(200, 'gold');
    expect((await app.auth.authenticate(accessToken))!.data).toEqual(proofs.data);
    app.clock.advance(MINUTE);
    await app.http.get('/payout').set(headers).expect(403);
  });
});

const Proofs = createParamDecorator((_, context) => {
  const { methods, data } = context.switchToHttp().getRequest().auth as AuthPrincipal;
  return { methods: Object.keys(methods), data };
});
const Profile = controllerOf('', [GUARD], {
  all: [returning(Proofs(), CurrentPrincipal(), CurrentSession(), CurrentUser(), OfRequest('user'))],
  optional: [OptionalAuth(), returning(CurrentUser())],
  recent: [RECENT],
  public: [Public(), returning(OfRequest('auth'))],
});

describe('guardFor()', () => {
  const alice = { id: 1, username: 'alice', roles: ['admin'] };
  const proofs = { methods: ['pwd', 'hwk'], data: { tenant: 'example' } };
  let app: INestApplication;

  beforeAll(async () => {
    const module = await Test.createTestingModule({ controllers: [Profile] })
      .overrideGuard(BearerAuthGuard)
      .useValue(guardFor(alice, proofs))
      .compile();
    app = await module.createNestApplication({ logger: false }).init();
  });
  afterAll(() => app.close());

  it('a controller alone receives the principal, the session and the user of the guard', async () => {
    const { body } = await request(app.getHttpServer()).get('/all').expect(200);
    const sessionId = body[1].sessionId as string;
    expect(body).toMatchObject([proofs, { userId: 1, sessionId }, { id: sessionId, isCurrent: true }, alice, alice]);
  });

  it.each([
    ['optional', [alice]],
    ['recent', 'gold'],
    ['public', [null]],
  ])('the guard admits a call of the route %s of a controller alone', async (path, expected) => {
    await request(app.getHttpServer()).get(`/${path}`).expect(200, expected);
  });
});

it('the testing hasher fails in production', () => {
  const environment = jest.replaceProperty(process.env, 'NODE_ENV', 'production');
  expect(() => new CheapPasswordHasher()).toThrow("NODE_ENV is not 'test'");
  environment.restore();
});
