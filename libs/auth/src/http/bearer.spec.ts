import type { ExecutionContext } from '@nestjs/common';
import type { AuthPrincipal } from '../services/authentication';
import { checkedPrincipal, keepBearer } from './bearer';
import type { AuthRequest } from './request';

describe('the principal that the guard has put on a request', () => {
  const principal: AuthPrincipal = { userId: 'alice', session: { id: 's' } as never, authenticatedAt: new Date() };
  let request: AuthRequest;

  beforeEach(() => {
    request = { url: '/', headers: {} };
    const http = { getRequest: () => request };
    const context = { getType: () => 'http', switchToHttp: () => http };
    keepBearer(context as unknown as ExecutionContext, { principal, loadUser: () => Promise.resolve(null) });
  });

  it('is known again, where two guards stand before a route', () => {
    expect(checkedPrincipal(request)).toBe(principal);
  });

  it.each([
    ['copied from it', () => ({ ...request, headers: { authorization: 'Bearer another' } })],
    ['derived from it', () => Object.create(request) as AuthRequest],
    ['with a principal of somebody else’s', () => Object.assign(request, { auth: { ...principal } })],
  ])('proves nothing on a request %s', (_, other) => {
    expect(checkedPrincipal(other())).toBeUndefined();
  });
});
