import { ApiKeys, type AuthPrincipal, type CreatedApiKey, type NewApiKey } from 'nestjs-session-auth';
import type { TestApplication } from './test-application';

/** Opens a session, and returns its principal. */
export async function principalOf(app: TestApplication, username = 'alice'): Promise<AuthPrincipal> {
  return app.principal((await app.auth.openSession(await app.userId(username))).accessToken);
}

/** Opens a session, and creates a key with the scope `orders:read`, unless other scopes are given. */
export async function createKey(
  app: TestApplication,
  given: Partial<NewApiKey> = {},
  username = 'alice',
): Promise<CreatedApiKey> {
  const principal = await principalOf(app, username);
  return app.nest.get(ApiKeys).create(principal, { name: 'export', scopes: ['orders:read'], ...given });
}
