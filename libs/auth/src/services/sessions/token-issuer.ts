import { Inject, Injectable } from '@nestjs/common';
import { CryptoSource } from '../../domain/ports/platform';
import { TICKET_LIFETIME_MS } from '../../domain/login-ticket';
import type { NewTokenFamily, RotateToken } from '../../domain/ports/sessions';
import type { PairDigests, TokenTransport } from '../../domain/refresh-decision';
import {
  ACCESS_SECRET_BYTES,
  FAMILY_SECRET_BYTES,
  formatAccessToken,
  formatLoginTicket,
  formatRefreshToken,
  formatResetToken,
  REFRESH_SECRET_BYTES,
  RESET_SECRET_BYTES,
  TICKET_SECRET_BYTES,
  type PlainTokens,
  type RefreshTokenClaims,
} from '../../domain/tokens';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../../options/auth-options';
import { graceSecondsFor } from '../../options/grace-period';

/** The size of a seed: 128 bits. A pair is derived from a seed and the presented refresh token. */
const SEED_BYTES = 16;

/** A token pair in plain text for the response, and its digests for the database. */
interface IssuedPair<Digests extends PairDigests = PairDigests> {
  readonly tokens: PlainTokens;
  readonly digests: Digests;
}

/**
 * The pair that replaces a refresh token, and the seed from which the pair was derived. The seed is null if the pair
 * was not derived.
 */
export interface Successor extends IssuedPair {
  readonly seed: string | null;
}

/** The lifetimes and the grace period that apply to a refresh. */
export type TokenLifetimes = Pick<RotateToken, 'accessTtlMs' | 'refreshTtlMs' | 'graceMs'>;

/** Issues tokens and computes the digests that the database stores. */
@Injectable()
export class TokenIssuer {
  constructor(
    private readonly crypto: CryptoSource,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
  ) {}

  /** Issues the first pair of a new token family. */
  issueFamily(sessionId: string, now: number): IssuedPair<NewTokenFamily> {
    const familySecret = this.crypto.randomBytes(FAMILY_SECRET_BYTES);
    const accessToken = formatAccessToken(sessionId, this.crypto.randomBytes(ACCESS_SECRET_BYTES));
    const refreshToken = formatRefreshToken(
      { sessionId, familySecret, generation: 0 },
      this.crypto.randomBytes(REFRESH_SECRET_BYTES),
    );
    const { tokens, digests } = this.withDigests({ accessToken, refreshToken });
    return {
      tokens,
      digests: {
        ...digests,
        familyDigest: this.digest(familySecret),
        accessExpiresAt: now + this.options.accessTokenTtlSeconds * 1000,
        refreshExpiresAt: now + this.options.refreshTokenTtlSeconds * 1000,
      },
    };
  }

  /**
   * Issues the pair that replaces a refresh token. With a grace period, the pair is derived from a seed, so that the
   * same pair can be issued again. Without a grace period, new tokens are random. Without rotation, the refresh token
   * stays the same.
   */
  issueSuccessor(refreshToken: string, claims: RefreshTokenClaims, transport: TokenTransport): Successor {
    const seed = graceSecondsFor(this.options, transport) > 0 ? this.newSeed() : null;
    const issued = seed ? this.deriveSuccessor(refreshToken, claims, seed) : this.randomSuccessor(refreshToken, claims);
    return { ...issued, seed };
  }

  private randomSuccessor(refreshToken: string, claims: RefreshTokenClaims): IssuedPair {
    const accessToken = formatAccessToken(claims.sessionId, this.crypto.randomBytes(ACCESS_SECRET_BYTES));
    if (!this.options.rotateRefreshTokens) return this.withDigests({ accessToken, refreshToken });
    return this.pairAfter(claims, accessToken, this.crypto.randomBytes(REFRESH_SECRET_BYTES));
  }

  /** Returns the token lifetimes and the grace period of a refresh, in milliseconds. */
  lifetimes(transport: TokenTransport): TokenLifetimes {
    const { accessTokenTtlSeconds, refreshTokenTtlSeconds } = this.options;
    return {
      accessTtlMs: accessTokenTtlSeconds * 1000,
      refreshTtlMs: refreshTokenTtlSeconds * 1000,
      graceMs: graceSecondsFor(this.options, transport) * 1000,
    };
  }

  /** Returns a new session id, which becomes a part of every token of the session. */
  newSessionId(): string {
    return this.crypto.uuid();
  }

  private newSeed(): string {
    return Buffer.from(this.crypto.randomBytes(SEED_BYTES)).toString('base64url');
  }

  /** Derives the pair that replaces a refresh token. The same token and seed always yield the same pair. */
  deriveSuccessor(refreshToken: string, claims: RefreshTokenClaims, seed: string): IssuedPair {
    const size = ACCESS_SECRET_BYTES + REFRESH_SECRET_BYTES;
    const secrets = this.crypto.derive(refreshToken, Buffer.from(seed, 'base64url'), size);
    const accessToken = formatAccessToken(claims.sessionId, secrets.subarray(0, ACCESS_SECRET_BYTES));
    return this.pairAfter(claims, accessToken, secrets.subarray(ACCESS_SECRET_BYTES));
  }

  /** Issues a password reset token. */
  issueResetToken(now: number): { readonly token: string; readonly digest: string; readonly expiresAt: number } {
    const token = formatResetToken(this.crypto.randomBytes(RESET_SECRET_BYTES));
    return { token, digest: this.digest(token), expiresAt: now + this.options.passwordResetTtlSeconds * 1000 };
  }

  /** Issues a login ticket. */
  issueLoginTicket(now: number): { readonly ticket: string; readonly digest: string; readonly expiresAt: number } {
    const ticket = formatLoginTicket(this.crypto.randomBytes(TICKET_SECRET_BYTES));
    return { ticket, digest: this.digest(ticket), expiresAt: now + TICKET_LIFETIME_MS };
  }

  /** Returns the SHA-256 digest of a token or other data. A presented token is digested exactly as it was received. */
  digest(data: string | Uint8Array): string {
    return this.crypto.sha256(data);
  }

  /**
   * Returns a digest of the network to which a pair is issued. The digest includes the presented refresh token, so
   * that the database alone does not reveal the network.
   */
  networkDigest(refreshToken: string, network: string): string {
    return Buffer.from(this.digest(`${refreshToken}\0${network}`), 'hex').toString('base64url');
  }

  private pairAfter(claims: RefreshTokenClaims, accessToken: string, secret: Uint8Array): IssuedPair {
    const refreshToken = formatRefreshToken({ ...claims, generation: claims.generation + 1 }, secret);
    return this.withDigests({ accessToken, refreshToken });
  }

  private withDigests(tokens: PlainTokens): IssuedPair {
    const digests = { accessDigest: this.digest(tokens.accessToken), refreshDigest: this.digest(tokens.refreshToken) };
    return { tokens, digests };
  }
}
