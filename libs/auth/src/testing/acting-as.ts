import type { INestApplicationContext } from '@nestjs/common';
import type { ClientInfo } from '../domain/client';
import type { UserId } from '../domain/ports/accounts';
import type { OpenedSession } from '../domain/tokens';
import { AuthService } from '../services/auth.service';

/** A session opened for a test. */
export interface ActingSession extends OpenedSession {
  /** The headers of an authenticated request: `{ Authorization: 'Bearer ...' }`. */
  readonly headers: { readonly Authorization: string };
}

/**
 * Opens a session for a user without a password and without HTTP. Like a login it records its
 * event, emits its signal and applies the session policy.
 * @throws AuthError `unknown_user` if the user does not exist or is not active
 */
export async function actingAs(
  app: INestApplicationContext,
  user: { readonly id: UserId } | UserId,
  client: ClientInfo = {},
): Promise<ActingSession> {
  const opened = await app.get(AuthService, { strict: false }).openSession(user, client);
  return { ...opened, headers: { Authorization: `Bearer ${opened.accessToken}` } };
}
