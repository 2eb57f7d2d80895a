import type { INestApplicationContext } from '@nestjs/common';
import type { ClientInfo } from '../domain/client';
import type { UserId } from '../domain/ports/user-store';
import type { OpenedSession } from '../domain/token-pair';
import { AuthService } from '../services/auth.service';

/** A session that was opened for a test. */
export interface ActingSession extends OpenedSession {
  /** To be sent with each request: `{ Authorization: 'Bearer ...' }`. */
  readonly headers: { readonly Authorization: string };
}

/**
 * Opens a session for a user without a password and without HTTP: as a login does, with its event, its signal and the session
 * policy.
 * @throws AuthError `unknown_user` for one who is not there or not active
 */
export async function actingAs(
  app: INestApplicationContext,
  user: { readonly id: UserId } | UserId,
  client: ClientInfo = {},
): Promise<ActingSession> {
  const opened = await app.get(AuthService, { strict: false }).openSession(user, client);
  return { ...opened, headers: { Authorization: `Bearer ${opened.accessToken}` } };
}
