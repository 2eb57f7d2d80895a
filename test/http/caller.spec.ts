import type { AuthPrincipal } from '../../libs/auth/src/sessions/authenticate';
import type { AuthRequest } from '../../libs/auth/src/http/request';
import type { ExecutionContext } from '@nestjs/common';
import { callerOf, storeHttpCaller, verifiedPrincipal } from '../../libs/auth/src/http/transports';

describe('the verified principal of a request', () => {
  const principal: AuthPrincipal = {
    userId: 'alice',
    session: { id: 's' } as never,
    authenticatedAt: new Date(),
    methods: {},
    data: {},
  };
  const loadUser = (): Promise<unknown> => Promise.resolve(null);
  let request: AuthRequest;

  beforeEach(() => {
    request = { url: '/', headers: {} };
    storeHttpCaller(request, { principal, loadUser });
  });

  it('is the principal that was stored for the request', () => {
    expect(verifiedPrincipal(request)).toBe(principal);
  });

  it('is the principal that was stored last', () => {
    const other = { ...principal };
    storeHttpCaller(request, { principal: other, loadUser });
    expect(verifiedPrincipal(request)).toBe(other);
  });

  it.each([
    ['that is a copy', () => ({ ...request, headers: { authorization: 'Bearer another' } })],
    ['that is a clone with the property descriptors', () => clone(request)],
    ['that inherits from the original', () => Object.create(request) as AuthRequest],
    ['that is a proxy of the original', () => new Proxy(request, {})],
    ['with a principal set by other code', () => Object.assign(request, { auth: { ...principal } })],
    ['whose principal is a string', () => Object.assign(request, { auth: 'alice' as never })],
    ['that has only the property `auth`', (): AuthRequest => ({ url: '/', headers: {}, auth: principal })],
  ])('is undefined for a request %s', (_, other) => {
    expect(verifiedPrincipal(other())).toBeUndefined();
  });

  const callerOfRequest = (): ReturnType<typeof callerOf> =>
    callerOf(
      { getType: () => 'http', switchToHttp: () => ({ getRequest: () => request }) } as ExecutionContext,
      '@CurrentUser()',
    );

  it('is returned with the user loader of its guard, even if another guard has set a loader on the request', () => {
    request.loadUser = () => Promise.resolve('a user of another guard');
    storeHttpCaller(request, { principal, loadUser });
    expect(callerOfRequest()).toMatchObject({ principal, loadUser });
  });

  it('does not keep its user loader if another guard replaces it, and loading throws if that guard sets none', () => {
    const otherLoader = (): Promise<unknown> => Promise.resolve('a user of another guard');
    Object.assign(request, { auth: { ...principal }, loadUser: otherLoader });
    expect(callerOfRequest()!.loadUser).toBe(otherLoader);
    delete request.loadUser;
    expect(() => callerOfRequest()!.loadUser()).toThrow('`request.loadUser`');
  });
});

function clone(request: AuthRequest): AuthRequest {
  return Object.create(Object.getPrototypeOf(request) as object, Object.getOwnPropertyDescriptors(request));
}
