import type { ClientInfo, TokenPair } from 'nestjs-session-auth';
import { ClientInspector } from '../../libs/auth/src/history/event-log';
import { Refresh } from '../../libs/auth/src/sessions/refresh';
import type { TestApplication } from './test-application';

/** Refreshes with tokens that were in cookies. */
export function refreshWithCookies(
  { nest }: TestApplication,
  { refreshToken, accessToken }: { readonly refreshToken: string; readonly accessToken: string | null },
  client: ClientInfo = {},
): Promise<TokenPair> {
  return nest.get(Refresh).refresh(refreshToken, nest.get(ClientInspector).inspect(client), 'cookie', accessToken);
}
