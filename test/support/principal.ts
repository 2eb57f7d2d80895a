import type { AuthPrincipal } from 'nestjs-session-auth';

/** Returns a principal with the given properties. */
export function principalWith(given: Partial<AuthPrincipal> = {}): AuthPrincipal {
  return {
    userId: 'alice',
    sessionId: 's',
    authenticatedAt: new Date(),
    methods: {},
    data: {},
    roles: [],
    realm: null,
    actor: null,
    ...given,
  };
}
