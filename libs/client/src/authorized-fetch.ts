import { ClientError } from './errors.js';
import type { Settings } from './options.js';
import type { Refresher } from './refresher.js';
import { json, readAnswer, readRecord, sendInTime } from './requests.js';
import type { TokenKeeper } from './token-keeper.js';
import type { Tokens } from './token-storage.js';
import { readPair } from './wire.js';

/** `fetch` with the access token, for the origins that may see it. */
export class AuthorizedFetch {
  constructor(
    private readonly settings: Settings,
    private readonly keeper: TokenKeeper,
    private readonly refresher: Refresher,
  ) {}

  async send(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const { aheadMs, environment } = this.settings;
    const request = this.requests(input, init);
    const stored = await this.keeper.read();
    if (!stored) throw signedOut();
    const retryUnknownCommit = canRepeat(init?.body);
    // A request that cannot be repeated needs a token that stays valid for longer.
    const tokens = await this.fresh(stored, retryUnknownCommit ? aheadMs : 2 * aheadMs);
    const response = await environment.fetch(request(tokens));
    if (!(await isTokenRefused(response))) return response;
    const refreshed = await this.refresher.refresh(tokens, 'invalid');
    if (refreshed.kind !== 'not_now' && (refreshed.kind !== 'renewed' || !retryUnknownCommit)) return response;
    await response.body?.cancel();
    if (refreshed.kind === 'not_now') throw refreshed.error;
    return environment.fetch(request(refreshed.tokens));
  }

  /** Sends a password to an endpoint that answers with a new token pair. */
  async sendPassword(path: string, body: object): Promise<void> {
    const refused = await this.reissue(path, body);
    if (!refused) return;
    const refreshed = await this.refresher.refresh(refused, 'invalid');
    if (refreshed.kind === 'not_now') throw refreshed.error;
    if (refreshed.kind !== 'renewed' || (await this.reissue(path, body, refused.sessionId))) throw signedOut();
  }

  /**
   * Holds the lock, since the endpoint replaces both tokens and a refresh at the same time would be
   * refused. If the response is lost, the old refresh token is revoked and not used: sending it
   * again is not reuse.
   * @returns the tokens that were refused, or null on success
   */
  private reissue(path: string, body: object, sessionId?: string): Promise<Tokens | null> {
    return this.settings.lock.run(async () => {
      const current = await this.keeper.read();
      if (!current || current.sessionId !== (sessionId ?? current.sessionId)) throw signedOut();
      const sentAt = this.settings.environment.clock.now();
      const request = bearer(new Request(this.settings.authUrl(path), json('POST', body)), current);
      return sendInTime(this.settings, request, async (response) => {
        if (await isTokenRefused(response)) return current;
        await this.keeper.renew(current, readPair(await readAnswer(response)), sentAt);
        return null;
      });
    });
  }

  /** Returns these tokens, or newer ones where the access token is known to expire soon. */
  private async fresh(tokens: Tokens, aheadMs: number): Promise<Tokens> {
    const { accessExpiresAt } = tokens;
    if (accessExpiresAt === null || this.settings.environment.clock.now() < accessExpiresAt - aheadMs) return tokens;
    const refreshed = await this.refresher.refresh(tokens, 'expiring');
    if (refreshed.kind === 'signed_out') throw signedOut();
    // The token may still be valid; if not, the server refuses it.
    return refreshed.kind === 'renewed' ? refreshed.tokens : tokens;
  }

  /** Returns a factory that makes the same request for each attempt. */
  private requests(input: string | URL | Request, init?: RequestInit): (tokens: Tokens) => Request {
    const { origin, href } = new URL(input instanceof Request ? input.url : input, this.settings.base);
    if (!this.settings.origins.has(origin)) {
      throw new ClientError('foreign_origin', `The token is not for ${origin}. Use \`origins\`, or fetch without it.`);
    }
    return (tokens) => bearer(new Request(input instanceof Request ? input.clone() : href, init), tokens);
  }
}

/** Sets the token, in place of any other credentials. */
function bearer(request: Request, { accessToken }: Tokens): Request {
  request.headers.set('Authorization', `Bearer ${accessToken}`);
  return request;
}

function signedOut(): ClientError {
  return new ClientError('signed_out', 'Nobody is signed in.');
}

/** The first request uses a stream up. */
function canRepeat(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return true;
  const kinds = [URLSearchParams, FormData, Blob, ArrayBuffer];
  return ArrayBuffer.isView(body) || kinds.some((kind) => body instanceof kind);
}

/**
 * Whether the server rejects the token itself. Pages of another origin see the header only if the
 * server exposes it (`Access-Control-Expose-Headers: WWW-Authenticate`), so the body has a code too.
 */
async function isTokenRefused(response: Response): Promise<boolean> {
  if (response.status !== 401) return false;
  const challenge = response.headers.get('WWW-Authenticate');
  if (challenge !== null) return /\berror="invalid_token"/.test(challenge);
  return (await readRecord(response.clone()))['code'] === 'access_token_invalid';
}
