import type { AuthService, ClientInfo, CreatedUser } from 'nestjs-session-auth';

/** Opens a session, logs it out, and returns its id. */
export async function openAndLogOut(auth: AuthService, user: CreatedUser, client: ClientInfo = {}): Promise<string> {
  const { accessToken, sessionId } = await auth.openSession(user, client);
  await auth.logout((await auth.authenticate(accessToken))!);
  return sessionId;
}
