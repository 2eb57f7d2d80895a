import type { ExecutionContext } from '@nestjs/common';
import type { AuthRequest } from '../../libs/auth/src/http/request';
import { Caller, callerOf, storeHttpCaller, verifiedCaller } from '../../libs/auth/src/http/callers';
import { principalWith } from '../support/principal';

describe('the verified caller of a request', () => {
  const principal = principalWith();
  const auth = {
    loadUser: jest.fn(() => Promise.resolve('the user')),
    currentSession: jest.fn(() => Promise.resolve({ id: 's' } as never)),
  };
  let caller: Caller;
  let request: AuthRequest;

  beforeEach(() => {
    jest.clearAllMocks();
    request = { url: '/', headers: {} };
    caller = new Caller(principal, auth);
    storeHttpCaller(request, caller);
  });

  it('is the caller that was stored for the request', () => {
    expect(verifiedCaller(request)).toBe(caller);
  });

  it('is the caller that was stored last', () => {
    const other = new Caller({ ...principal }, auth);
    storeHttpCaller(request, other);
    expect(verifiedCaller(request)).toBe(other);
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
    expect(verifiedCaller(other())).toBeUndefined();
  });

  it('loads the user and the session once each', async () => {
    expect(await Promise.all([caller.loadUser(), caller.loadUser()])).toEqual(['the user', 'the user']);
    expect(await Promise.all([caller.loadSession(), caller.loadSession()])).toEqual([{ id: 's' }, { id: 's' }]);
    expect(auth.loadUser.mock.calls).toEqual([[principal]]);
    expect(auth.currentSession.mock.calls).toEqual([[principal]]);
  });

  const callerOfRequest = (): ReturnType<typeof callerOf> =>
    callerOf(
      { getType: () => 'http', switchToHttp: () => ({ getRequest: () => request }) } as ExecutionContext,
      '@CurrentUser()',
    );

  it('is returned even if another guard has set loaders on the request', () => {
    request.loadUser = () => Promise.resolve('a user of another guard');
    expect(callerOfRequest()).toBe(caller);
  });

  it('is replaced if another guard sets a principal, and loading throws if that guard sets no loaders', () => {
    const otherLoader = (): Promise<unknown> => Promise.resolve('a user of another guard');
    Object.assign(request, { auth: { ...principal }, loadUser: otherLoader });
    expect(callerOfRequest()!.loadUser).toBe(otherLoader);
    delete request.loadUser;
    expect(() => callerOfRequest()!.loadUser()).toThrow('`request.loadUser`');
    expect(() => callerOfRequest()!.loadSession()).toThrow('`request.loadSession`');
  });
});

function clone(request: AuthRequest): AuthRequest {
  return Object.create(Object.getPrototypeOf(request) as object, Object.getOwnPropertyDescriptors(request));
}
