import type { ClientEnvironment } from './environment.js';
import { ClientError } from './errors.js';
import type { Refresher } from './refresher.js';
import type { TokenKeeper } from './token-keeper.js';
import type { Tokens } from './token-storage.js';
import { isRecord } from './wire.js';

/** `fetch` with the token of the session, for the origins that may see it. */
export class AuthorizedFetch {
  constructor(
    private readonly base: URL,
    private readonly origins: ReadonlySet<string>,
    private readonly keeper: TokenKeeper,
    private readonly refresher: Refresher,
    private readonly aheadMs: number,
    private readonly world: ClientEnvironment,
  ) {}

  async send(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request = this.requests(input, init);
    const kept = await this.keeper.read();
    if (!kept) throw signedOut();
    const repeatable = isRepeatable(init?.body);
    // What can be sent once only gets a token that lasts for longer.
    const tokens = await this.fresh(kept, repeatable ? this.aheadMs : 2 * this.aheadMs);
    const response = await this.world.fetch(request(tokens));
    if (!(await isTokenRefused(response))) return response;
    const refreshed = await this.refresher.refresh(tokens, 'dead');
    if (refreshed.kind !== 'not_now' && (refreshed.kind !== 'renewed' || !repeatable)) return response;
    await response.body?.cancel();
    if (refreshed.kind === 'not_now') throw refreshed.error;
    return this.world.fetch(request(refreshed.tokens));
  }

  /** These tokens, or newer ones where the access token is known to end soon. */
  private async fresh(tokens: Tokens, aheadMs: number): Promise<Tokens> {
    const { accessExpiresAt } = tokens;
    if (accessExpiresAt === null || this.world.clock.now() < accessExpiresAt - aheadMs) return tokens;
    const refreshed = await this.refresher.refresh(tokens, 'ending');
    if (refreshed.kind === 'signed_out') throw signedOut();
    // It works for a while yet, or the server will say that it does not.
    return refreshed.kind === 'renewed' ? refreshed.tokens : tokens;
  }

  /** Makes the same request once for each time that it is sent. */
  private requests(input: string | URL | Request, init?: RequestInit): (tokens: Tokens) => Request {
    const address = input instanceof Request ? input : new URL(input, this.base);
    const { origin } = address instanceof Request ? new URL(address.url) : address;
    if (!this.origins.has(origin)) {
      throw new ClientError('foreign_origin', `The token is not for ${origin}. Use \`origins\`, or fetch without it.`);
    }
    return (tokens) => bearer(new Request(address instanceof Request ? address.clone() : address.href, init), tokens);
  }
}

/** The request with the token, whatever it was to carry in its place. */
export function bearer(request: Request, { accessToken }: Tokens): Request {
  request.headers.set('Authorization', `Bearer ${accessToken}`);
  return request;
}

export function signedOut(): ClientError {
  return new ClientError('signed_out', 'Nobody is signed in.');
}

/** A stream is used up by the first request. */
function isRepeatable(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return true;
  const kinds = [URLSearchParams, FormData, Blob, ArrayBuffer];
  return ArrayBuffer.isView(body) || kinds.some((kind) => body instanceof kind);
}

/**
 * Whether the server refuses the token, and not something else. Pages of another origin see the header only where the server
 * exposes it (`Access-Control-Expose-Headers: WWW-Authenticate`); then the body says so as well.
 */
export async function isTokenRefused(response: Response): Promise<boolean> {
  if (response.status !== 401) return false;
  const challenge = response.headers.get('WWW-Authenticate');
  if (challenge !== null) return /\berror="invalid_token"/.test(challenge);
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null);
  return isRecord(body) && body['detail'] === 'Invalid or expired access token.';
}
