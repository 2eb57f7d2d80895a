import type { INestApplicationContext } from '@nestjs/common';
import type { ClientInfo } from '../domain/client';
import type { UserId } from '../domain/ports/accounts';
import type { SessionData } from '../domain/proofs';
import type { OpenedSession } from '../domain/tokens';
import { AuthService } from '../services/auth.service';

/** A session opened for a test. */
export interface ActingSession extends OpenedSession {
  /** The headers of an authenticated request: `{ Authorization: 'Bearer ...' }`. */
  readonly headers: { readonly Authorization: string };
}

/**
 * Opens a session for a user, without a password and without an HTTP request. Like a login, this function records
 * the event, emits the signal and applies the session limit.
 * @param client the client of the session. Default: an unknown client
 * @param proofs as for `AuthService.openSession`. `methods`: how the user is identified, such as `['pwd', 'otp']`,
 *   for routes with `@RequireRecentLogin({ methods })`. Default: none. `data`: the data to store with the session.
 *   Default: none
 * @throws AuthError `session_limit_reached`; `unknown_user` if the user does not exist or is not
 *   active
 * @throws Error if `methods` or `data` is invalid
 */
export async function actingAs(
  app: INestApplicationContext,
  user: { readonly id: UserId } | UserId,
  client: ClientInfo = {},
  proofs: { readonly methods?: readonly string[]; readonly data?: Partial<SessionData> } = {},
): Promise<ActingSession> {
  const opened = await app.get(AuthService, { strict: false }).openSession(user, client, proofs);
  return { ...opened, headers: { Authorization: `Bearer ${opened.accessToken}` } };
}
