import type { AuthPrincipal } from '../../services/sessions/authentication';
import type { AuthRequest } from '../platform/request';
import type { ExecutionContext } from '@nestjs/common';
import { callerOf, storeHttpCaller, verifiedPrincipal } from './caller';

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

  it('is recognised by a second guard on the same route', () => {
    expect(verifiedPrincipal(request)).toBe(principal);
  });

  it('is the latest one that was stored', () => {
    const other = { ...principal };
    storeHttpCaller(request, { principal: other, loadUser });
    expect(verifiedPrincipal(request)).toBe(other);
  });

  it.each([
    ['copied from it', () => ({ ...request, headers: { authorization: 'Bearer another' } })],
    ['cloned with its property descriptors', () => clone(request)],
    ['derived from it', () => Object.create(request) as AuthRequest],
    ['that is a proxy of it', () => new Proxy(request, {})],
    ['with a principal set by other code', () => Object.assign(request, { auth: { ...principal } })],
    ['with text as its principal', () => Object.assign(request, { auth: 'alice' as never })],
    ['that only has `auth`', (): AuthRequest => ({ url: '/', headers: {}, auth: principal })],
  ])('is unknown on a request %s', (_, other) => {
    expect(verifiedPrincipal(other())).toBeUndefined();
  });

  const callerOfRequest = (): ReturnType<typeof callerOf> =>
    callerOf(
      { getType: () => 'http', switchToHttp: () => ({ getRequest: () => request }) } as ExecutionContext,
      '@CurrentUser()',
    );

  it('has its own user, whichever loader another guard has left', () => {
    request.loadUser = () => Promise.resolve('a user of another guard');
    storeHttpCaller(request, { principal, loadUser });
    expect(callerOfRequest()).toMatchObject({ principal, loadUser });
  });

  it('that another guard replaces has the user that it loads', () => {
    const theirs = (): Promise<unknown> => Promise.resolve('their user');
    Object.assign(request, { auth: { ...principal }, loadUser: theirs });
    expect(callerOfRequest()!.loadUser).toBe(theirs);
    delete request.loadUser;
    expect(() => callerOfRequest()!.loadUser()).toThrow('`request.loadUser`');
  });
});

function clone(request: AuthRequest): AuthRequest {
  return Object.create(Object.getPrototypeOf(request) as object, Object.getOwnPropertyDescriptors(request));
}
