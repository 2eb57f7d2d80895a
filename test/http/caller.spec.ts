import type { ExecutionContext } from '@nestjs/common';
import type { AuthPrincipal } from 'nestjs-session-auth';
import type { AuthRequest } from '../../libs/auth/src/http/request';
import { Caller, callerOf, storeHttpCaller, verifiedCaller } from '../../libs/auth/src/http/callers';

const principal = { userId: 'alice', sessionId: 's' } as AuthPrincipal;

describe('the verified caller of a request', () => {
  const auth = { loadUser: () => Promise.resolve('the user'), currentSession: () => Promise.resolve({} as never) };
  let caller: Caller;
  let request: AuthRequest;

  beforeEach(() => {
    request = { url: '/', headers: {} };
    storeHttpCaller(request, new Caller({ ...principal }, auth));
    caller = new Caller(principal, auth);
    storeHttpCaller(request, caller);
  });

  it.each([
    ['that is a copy', () => ({ ...request, headers: { authorization: 'Bearer another' } })],
    ['that inherits from the original', () => Object.create(request) as AuthRequest],
    ['that is a proxy of the original', () => new Proxy(request, {})],
    ['with a principal set by other code', () => Object.assign(request, { auth: { ...principal } })],
    ['whose principal is a string', () => Object.assign(request, { auth: 'alice' as never })],
  ])('there is no verified caller for a request %s', (_, other) => {
    expect(verifiedCaller(other())).toBeUndefined();
  });

  it('a principal of another guard replaces the caller, and loading throws if that guard sets no loaders', () => {
    const context = { getType: () => 'http', switchToHttp: () => ({ getRequest: () => request }) };
    const found = (): ReturnType<typeof callerOf> => callerOf(context as ExecutionContext, '@CurrentUser()');
    request.loadUser = () => Promise.resolve('a user of another guard');
    expect(found()).toBe(caller);
    request.auth = { ...principal };
    expect(found()!.loadUser).toBe(request.loadUser);
    delete request.loadUser;
    expect(() => found()!.loadUser()).toThrow('`request.loadUser`');
    expect(() => found()!.loadSession()).toThrow('`request.loadSession`');
  });
});

it('a user or session that could not be loaded is loaded again for the next resolver of the operation', async () => {
  let isFailing = true;
  const load = () => (isFailing ? Promise.reject(new Error('away')) : Promise.resolve({} as never));
  const caller = new Caller(principal, { loadUser: load, currentSession: load });
  await expect(caller.loadUser()).rejects.toThrow('away');
  await expect(caller.loadSession()).rejects.toThrow('away');
  isFailing = false;
  expect(await caller.loadUser()).toBe(await caller.loadUser());
  expect(await caller.loadSession()).toEqual({});
});
