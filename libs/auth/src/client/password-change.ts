import { readAnswer } from './answers.js';
import type { Parts } from './assemble.js';
import { bearer, isTokenRefused, signedOut } from './authorized-fetch.js';
import { json, within } from './requests.js';
import type { Tokens } from './token-storage.js';
import { readPair } from './wire.js';

/**
 * Changes the password while nobody refreshes: it replaces both tokens, and a refresh beside it would be refused.
 *
 * If its answer is lost, the old refresh token is revoked and not used: sent once more it raises no alarm.
 */
export async function changePassword(parts: Parts, url: string, body: object): Promise<void> {
  const refused = await change(parts, url, body);
  if (!refused) return;
  const refreshed = await parts.refresher.refresh(refused, 'dead');
  if (refreshed.kind === 'not_now') throw refreshed.error;
  if (refreshed.kind !== 'renewed' || (await change(parts, url, body, refused.sessionId))) throw signedOut();
}

/** @returns the tokens that were refused, or null when it is done */
function change(
  { keeper, lock, tokens, timeoutMs, world }: Parts,
  url: string,
  body: object,
  sessionId?: string,
): Promise<Tokens | null> {
  return lock.run(async () => {
    const current = await keeper.read();
    if (!current || current.sessionId !== (sessionId ?? current.sessionId)) throw signedOut();
    const sentAt = world.clock.now();
    const request = bearer(new Request(url, json('POST', body)), current);
    return within(timeoutMs, world, request, async (response) => {
      if (await isTokenRefused(response)) return current;
      const pair = readPair(await readAnswer(response));
      await keeper.renew(tokens.grown(current, pair, sentAt));
      return null;
    });
  });
}
