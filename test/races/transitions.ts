import { createHash } from 'node:crypto';
import type { ClientInfo } from 'nestjs-session-auth';
import { ClientInspector, type Operation } from '../../libs/auth/src/history/event-log';
import { Reissue } from '../../libs/auth/src/sessions/rotate';
import { type Charge, Throttle } from '../../libs/auth/src/throttle/throttle';
import { type PlainTokens, TokenIssuer } from '../../libs/auth/src/tokens/tokens';
import type { TestApplication } from '../support/test-application';

/** Transitions that operations of one process execute one after another, and that therefore race on their own. */

export function operationOf({ nest }: TestApplication, client: ClientInfo = { ipAddress: '192.0.2.1' }): Operation {
  return { client: nest.get(ClientInspector).inspect(client), tx: null };
}

/** Counts an attempt of the user with the method `otp`. */
export async function charge(app: TestApplication, id: string): Promise<Charge> {
  const op = operationOf(app);
  const user = { id, username: 'any', passwordHash: null, active: true };
  const throttle = app.nest.get(Throttle);
  return throttle.charge(throttle.ofLogin('otp', 'any', user, op.client), op);
}

/** Begins a new token family, as a reauthentication does. Returns null if the access token is not the live one. */
export async function reauthenticate(
  app: TestApplication,
  userId: string,
  { sessionId: id, accessToken }: { readonly sessionId: string; readonly accessToken: string },
  client?: ClientInfo,
): Promise<PlainTokens | null> {
  const accessDigest = createHash('sha256').update(accessToken).digest('hex');
  const { tokens, digests } = app.nest.get(TokenIssuer).issueFamily(id);
  const reissue = app.nest.get(Reissue);
  const current = { id, userId, methods: '{}', accessDigest };
  const isReissued = await reissue.reissueAfterReauthentication(current, digests, [], operationOf(app, client).client);
  return isReissued ? tokens : null;
}
