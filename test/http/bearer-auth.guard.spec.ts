import type { ExecutionContext, Type } from '@nestjs/common';
import { BearerAuthGuard } from '../../libs/auth/src/http/bearer-auth.guard';
import { CookieRules } from '../../libs/auth/src/http/cookies/cookie-rules';
import { CrossSiteCheck } from '../../libs/auth/src/http/cookies/cross-site-check';
import { Public, RequireRecentLogin } from '../../libs/auth/src/http/decorators';
import type { AuthRequest } from '../../libs/auth/src/http/request';
import { AccessTokens } from '../../libs/auth/src/http/transports';
import { DrivenClock } from '../support/driven-clock';
import { principalWith } from '../support/principal';

class Base {
  inherited(): void {}

  @RequireRecentLogin({ withinSeconds: 60, methods: ['otp'] })
  sensitive(): void {}
}

@Public()
class Open extends Base {}

class Closed extends Base {}

@RequireRecentLogin({ withinSeconds: 90 })
class Restricted extends Base {}

@RequireRecentLogin({ withinSeconds: 30 })
class MoreRestricted extends Restricted {}

describe('BearerAuthGuard', () => {
  const principal = principalWith();
  const auth = {
    authenticate: jest.fn(() => Promise.resolve(principal)),
    assertRecentLogin: jest.fn(),
  };
  const callTo = (type: Type<Base>, name: 'inherited' | 'sensitive' = 'inherited'): ExecutionContext => {
    const request: AuthRequest = { url: '/', headers: { authorization: 'Bearer token' } };
    return {
      getType: () => 'http',
      getClass: () => type,
      getHandler: () => type.prototype[name],
      getArgByIndex: () => request,
    } as unknown as ExecutionContext;
  };
  const newGuard = (): BearerAuthGuard => {
    const options = { cookies: { mode: false, name: 'auth', secure: true, trustedOrigins: [] } } as const;
    const clock = new DrivenClock();
    const check = new CrossSiteCheck(options);
    const unused = {} as never;
    const cookies = new CookieRules(options, check, unused, unused, clock);
    return new BearerAuthGuard(auth as never, auth as never, new AccessTokens(cookies, null, clock), cookies, unused);
  };

  beforeEach(() => jest.clearAllMocks());

  it('reads the decorators of a handler only once', async () => {
    const read = jest.spyOn(Reflect, 'getMetadata');
    const guard = newGuard();
    await guard.canActivate(callTo(Closed, 'sensitive'));
    expect(read).toHaveBeenCalled();
    read.mockClear();
    for (let calls = 0; calls < 2; calls += 1) await guard.canActivate(callTo(Closed, 'sensitive'));
    expect(read).not.toHaveBeenCalled();
    expect(auth.assertRecentLogin.mock.calls).toEqual([0, 1, 2].map(() => [principal, 60, ['otp']]));
    read.mockRestore();
  });

  it('applies the decorators of each controller to a handler that several controllers inherit', async () => {
    const guard = newGuard();
    for (const type of [Closed, Open, Closed, Open]) await guard.canActivate(callTo(type));
    expect(auth.authenticate).toHaveBeenCalledTimes(2);
  });

  it('guards a subclass of a public controller', async () => {
    class Derived extends Open {}
    await newGuard().canActivate(callTo(Derived));
    expect(auth.authenticate).toHaveBeenCalledTimes(1);
  });

  it('applies the requirements of a handler, of its class and of the superclasses of the class', async () => {
    class Derived extends MoreRestricted {}
    await newGuard().canActivate(callTo(Derived, 'sensitive'));
    const required = [90, 30, 60].map((seconds) => [principal, seconds, seconds === 60 ? ['otp'] : []]);
    expect(auth.assertRecentLogin.mock.calls).toEqual(required);
    auth.assertRecentLogin.mockClear();
    await newGuard().canActivate(callTo(Restricted));
    expect(auth.assertRecentLogin.mock.calls).toEqual([[principal, 90, []]]);
  });

  it('does not read the Cookie header without the cookies option', async () => {
    const call = callTo(Closed);
    const { headers } = call.getArgByIndex<AuthRequest>(0);
    const read = jest.fn();
    Object.defineProperty(headers, 'cookie', { get: read });
    await newGuard().canActivate(call);
    expect(auth.authenticate).toHaveBeenCalledTimes(1);
    expect(read).not.toHaveBeenCalled();
  });
});
