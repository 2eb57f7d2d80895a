import { TOKEN_BYTES, writeToken, type TokenKind } from '../domain/opaque-token';
import type { CryptoSource } from '../domain/ports/crypto-source';
import type { TokenPair } from '../domain/token-pair';

/** A token in plain, for its one answer, and its digest, for the database. */
export interface IssuedToken {
  readonly plain: string;
  readonly digest: string;
}

/** Makes tokens, and the digests by which they are known afterwards. */
export class TokenIssuer {
  constructor(private readonly crypto: CryptoSource) {}

  issue(kind: TokenKind): IssuedToken {
    const plain = writeToken(kind, this.crypto.randomBytes(TOKEN_BYTES));
    return { plain, digest: this.digest(plain) };
  }

  /** Of the exact text that was presented; nothing is decoded first. */
  digest(plain: string): string {
    return this.crypto.sha256(plain);
  }
}

export function pairOf(access: IssuedToken, refresh: IssuedToken): TokenPair {
  return { accessToken: access.plain, refreshToken: refresh.plain };
}
