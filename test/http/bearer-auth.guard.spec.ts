import type { ExecutionContext, Type } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { AuthService } from '../../libs/auth/src/auth.service';
import type { AuthPrincipal } from '../../libs/auth/src/sessions/authenticate';
import type { AuthRequest } from '../../libs/auth/src/http/request';
import { BearerAuthGuard } from '../../libs/auth/src/http/bearer-auth.guard';
import { Public, RequireRecentLogin } from '../../libs/auth/src/http/decorators';
import { RECENT_LOGIN } from '../../libs/auth/src/http/route-rules';

class Base {
  inherited(): void {}

  @RequireRecentLogin({ withinSeconds: 60, methods: ['otp'] })
  sensitive(): void {}
}

@Public()
class Open extends Base {}

class Closed extends Base {}

describe('BearerAuthGuard', () => {
  const principal: AuthPrincipal = {
    userId: 'alice',
    session: { id: 's' } as never,
    authenticatedAt: new Date(),
    methods: {},
    data: {},
  };
  const auth = {
    authenticate: jest.fn(() => Promise.resolve(principal)),
    assertRecentLogin: jest.fn(),
  };
  const callTo = (type: Type<Base>, name: 'inherited' | 'sensitive' = 'inherited'): ExecutionContext => {
    const request: AuthRequest = { url: '/', headers: { authorization: 'Bearer token' } };
    const http = { getRequest: () => request };
    return {
      getType: () => 'http',
      getClass: () => type,
      getHandler: () => type.prototype[name],
      switchToHttp: () => http,
    } as unknown as ExecutionContext;
  };
  const guardOf = (type = BearerAuthGuard, reflector = new Reflector()): BearerAuthGuard =>
    new type(auth as unknown as AuthService, reflector);

  beforeEach(() => jest.clearAllMocks());

  it('reads the decorators of a handler only once', async () => {
    const reflector = new Reflector();
    const read = jest.spyOn(reflector, 'getAllAndOverride');
    const guard = guardOf(BearerAuthGuard, reflector);
    for (let calls = 0; calls < 3; calls += 1) await guard.canActivate(callTo(Closed, 'sensitive'));
    expect(read).toHaveBeenCalledWith(RECENT_LOGIN, [Closed.prototype.sensitive, Closed]);
    expect(read).toHaveBeenCalledTimes(2);
    expect(auth.assertRecentLogin.mock.calls).toEqual([0, 1, 2].map(() => [principal, 60, ['otp']]));
  });

  it('applies the decorators of each controller to a handler that several controllers inherit', async () => {
    const guard = guardOf();
    for (const type of [Closed, Open, Closed, Open]) await guard.canActivate(callTo(type));
    expect(auth.authenticate).toHaveBeenCalledTimes(2);
  });

  it('guards a subclass of a public controller', async () => {
    class Derived extends Open {}
    await guardOf().canActivate(callTo(Derived));
    expect(auth.authenticate).toHaveBeenCalledTimes(1);
  });

  it('does not read the Cookie header without the cookies option', async () => {
    const call = callTo(Closed);
    const { headers } = call.switchToHttp().getRequest<AuthRequest>();
    const read = jest.fn();
    Object.defineProperty(headers, 'cookie', { get: read });
    await guardOf().canActivate(call);
    expect(auth.authenticate).toHaveBeenCalledTimes(1);
    expect(read).not.toHaveBeenCalled();
  });

  it('calls the overridden methods of a subclass for each request', async () => {
    const rules = { isOpen: false, seconds: 60 };
    class Custom extends BearerAuthGuard {
      protected override isPublic(): boolean {
        return rules.isOpen;
      }

      protected override recentLoginSeconds(): number {
        return rules.seconds;
      }
    }
    const guard = guardOf(Custom);
    await guard.canActivate(callTo(Open));
    rules.seconds = 5;
    await guard.canActivate(callTo(Open));
    expect(auth.assertRecentLogin.mock.calls).toEqual([60, 5].map((seconds) => [principal, seconds, []]));
    rules.isOpen = true;
    await guard.canActivate(callTo(Open));
    expect(auth.authenticate).toHaveBeenCalledTimes(2);
  });
});
