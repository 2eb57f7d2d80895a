import { Inject, Injectable } from '@nestjs/common';
import { crc32 } from 'node:zlib';
import type { UserId } from '../adapters/user-store';
import { derive, Random, sha256 } from '../base/random';
import type { TokenTransport } from '../database/entities';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import { lifetimesOf } from '../options/resolve-options';

const TICKET_LIFETIME_MS = 300_000;

/** The prefixes, for which secret scanners can search, and payload sizes, which leave no spare bits in base64url. */
const FORMATS = {
  access: { prefix: 'nsaa_', bytes: 48 },
  refresh: { prefix: 'nsar_', bytes: 69 },
  password_reset: { prefix: 'nsap_', bytes: 33 },
  login_ticket: { prefix: 'nsal_', bytes: 33 },
  api_key: { prefix: 'nsak_', bytes: 48 },
} as const;

type TokenKind = keyof typeof FORMATS;

const PREFIX_LENGTH = 5;
const CHECKSUM_LENGTH = 6;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const TOKEN = /^nsa[arplk]_[A-Za-z0-9_-]+$/;

const SESSION_ID_BYTES = 16;
const GENERATION_OFFSET = 32;

/** 256 bits, which are twice the minimum of ASVS 7.2.3. */
export const ACCESS_SECRET_BYTES = 32;
export const REFRESH_SECRET_BYTES = 33;
export const FAMILY_SECRET_BYTES = 16;
const API_KEY_SECRET_BYTES = 32;
const SEED_BYTES = 16;

/** The exclusive upper bound. */
export const GENERATION_LIMIT = 0xffffffff;

export interface PairDigests {
  readonly accessDigest: string;
  readonly refreshDigest: string;
}

/** The first pair of a family, for the database. */
export interface NewTokenFamily extends PairDigests {
  readonly familyDigest: string;
}

export interface PlainTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** When the tokens of a pair expire, in milliseconds, and whether its cookies outlast the browser. */
export interface PairTerms {
  readonly accessExpiresAt: number;
  readonly refreshExpiresAt: number;
  readonly persistent: boolean;
}

type PairExpiries = Omit<PairTerms, 'persistent'>;

/** A token pair in plain text, with its expiries. Neither token is valid after the session's absolute timeout. */
export interface TokenPair extends PlainTokens {
  readonly accessTokenExpiresAt: Date;
  readonly refreshTokenExpiresAt: Date;
  /** Whether `AuthCookies.set` sets cookies with `Max-Age`, which outlast the browser. */
  readonly persistent: boolean;
}

/** A new session. */
export interface OpenedSession extends TokenPair {
  readonly sessionId: string;
  /** The user's id, in the application's type. */
  readonly userId: UserId;
}

/** Returns when a pair expires that is issued now, unless its session ends earlier. */
export function expiriesAfter(now: number, options: ResolvedAuthOptions, remembered: boolean): PairExpiries {
  return {
    accessExpiresAt: now + options.accessTokenTtlSeconds * 1000,
    refreshExpiresAt: now + lifetimesOf(options, remembered).refreshTokenMs,
  };
}

export function tokenPair(tokens: PlainTokens, terms: PairTerms): TokenPair {
  return {
    ...tokens,
    accessTokenExpiresAt: new Date(terms.accessExpiresAt),
    refreshTokenExpiresAt: new Date(terms.refreshExpiresAt),
    persistent: terms.persistent,
  };
}

export interface RefreshTokenClaims {
  readonly sessionId: string;
  readonly familySecret: Uint8Array;
  /** The number of rotations in the family before the token was issued. */
  readonly generation: number;
}

export function formatAccessToken(sessionId: string, secret: Uint8Array): string {
  return formatToken('access', Buffer.concat([uuidBytes(sessionId), secret]));
}

/** Returns the id of the session or API key that a token names, or null if the value is not such a token. */
export function idInToken(kind: 'access' | 'api_key', token: unknown): string | null {
  const payload = typeof token === 'string' ? tokenPayload(kind, token) : null;
  return payload && uuidText(payload);
}

export function formatRefreshToken(claims: RefreshTokenClaims, secret: Uint8Array): string {
  const generation = Buffer.alloc(4);
  generation.writeUInt32BE(claims.generation);
  return formatToken('refresh', Buffer.concat([uuidBytes(claims.sessionId), claims.familySecret, generation, secret]));
}

/** Returns null if the text is not a refresh token. */
export function parseRefreshToken(text: string): RefreshTokenClaims | null {
  const payload = tokenPayload('refresh', text);
  if (!payload) return null;
  const generation = payload.readUInt32BE(GENERATION_OFFSET);
  if (generation >= GENERATION_LIMIT) return null;
  const familySecret = payload.subarray(SESSION_ID_BYTES, GENERATION_OFFSET);
  return { sessionId: uuidText(payload), familySecret, generation };
}

/** Returns whether the text begins like a token of the library, even if it is not valid. */
export function isOwnToken(text: string): boolean {
  return TOKEN.test(text);
}

export function isToken(kind: TokenKind, text: string): boolean {
  return tokenPayload(kind, text) !== null;
}

function formatToken(kind: TokenKind, payload: Uint8Array): string {
  const body = FORMATS[kind].prefix + Buffer.from(payload).toString('base64url');
  return body + checksum(body);
}

/** Returns null if the text is not such a token. The checksum detects corrupted tokens before the database is queried. */
function tokenPayload(kind: TokenKind, text: string): Buffer | null {
  const { prefix, bytes } = FORMATS[kind];
  const end = PREFIX_LENGTH + (bytes / 3) * 4;
  if (text.length !== end + CHECKSUM_LENGTH || !text.startsWith(prefix) || !TOKEN.test(text)) return null;
  if (checksum(text.slice(0, end)) !== text.slice(end)) return null;
  return Buffer.from(text.slice(PREFIX_LENGTH, end), 'base64url');
}

/** Returns the CRC-32 (ISO 3309) of the text in six characters of base 62. */
function checksum(text: string): string {
  let remainder = crc32(text);
  let encoded = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    encoded = ALPHABET.charAt(remainder % 62) + encoded;
    remainder = Math.floor(remainder / 62);
  }
  return encoded;
}

function uuidBytes(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex');
}

function uuidText(payload: Buffer): string {
  const hex = payload.toString('hex', 0, SESSION_ID_BYTES);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Tabs of a browser share the cookies and can refresh in parallel, and a page that the user leaves loses its response. */
const COOKIE_GRACE_SECONDS = 10;

/** Returns the grace period after a refresh over this transport, in seconds, or 0 for none. */
export function graceSecondsFor(options: ResolvedAuthOptions, transport: TokenTransport): number {
  const byDefault = transport === 'cookie' && options.rotateRefreshTokens ? COOKIE_GRACE_SECONDS : 0;
  return options.refreshReuseGraceSeconds ?? byDefault;
}

/** A token pair for the response, its digests for the database, and the seed from which it was derived, if any. */
export interface Successor {
  readonly tokens: PlainTokens;
  readonly digests: PairDigests;
  readonly seed: string | null;
}

@Injectable()
export class TokenIssuer {
  constructor(
    private readonly random: Random,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
  ) {}

  /** Issues the first pair of a token family, by default of a new session. */
  issueFamily(sessionId = this.random.uuid()): { sessionId: string; tokens: PlainTokens; digests: NewTokenFamily } {
    const familySecret = this.random.bytes(FAMILY_SECRET_BYTES);
    const accessSecret = this.random.bytes(ACCESS_SECRET_BYTES);
    const claims = { sessionId, familySecret, generation: 0 };
    const { tokens, digests } = pairOf(claims, accessSecret, this.random.bytes(REFRESH_SECRET_BYTES));
    return { sessionId, tokens, digests: { ...digests, familyDigest: sha256(familySecret) } };
  }

  /**
   * Issues the pair that replaces a refresh token: with a grace period derived from a seed, so that the same pair can be
   * issued again, otherwise random. Without rotation, the refresh token stays the same.
   */
  issueSuccessor(refreshToken: string, claims: RefreshTokenClaims, transport: TokenTransport): Successor {
    if (graceSecondsFor(this.options, transport) > 0) {
      const seed = Buffer.from(this.random.bytes(SEED_BYTES)).toString('base64url');
      return this.deriveSuccessor(refreshToken, claims, seed);
    }
    const accessSecret = this.random.bytes(ACCESS_SECRET_BYTES);
    if (!this.options.rotateRefreshTokens) {
      return withDigests(formatAccessToken(claims.sessionId, accessSecret), refreshToken);
    }
    return pairOf(successorOf(claims), accessSecret, this.random.bytes(REFRESH_SECRET_BYTES));
  }

  /** Derives the pair that replaces a refresh token. The same token and seed always yield the same pair. */
  deriveSuccessor(refreshToken: string, claims: RefreshTokenClaims, seed: string): Successor {
    const size = ACCESS_SECRET_BYTES + REFRESH_SECRET_BYTES;
    const secrets = derive(refreshToken, Buffer.from(seed, 'base64url'), size);
    const accessSecret = secrets.subarray(0, ACCESS_SECRET_BYTES);
    return pairOf(successorOf(claims), accessSecret, secrets.subarray(ACCESS_SECRET_BYTES), seed);
  }

  issueApiKey(): { readonly id: string; readonly key: string; readonly digest: string } {
    const id = this.random.uuid();
    const key = formatToken('api_key', Buffer.concat([uuidBytes(id), this.random.bytes(API_KEY_SECRET_BYTES)]));
    return { id, key, digest: sha256(key) };
  }

  /** Issues a token that is stored by its digest, and can be used once. */
  issueToken(
    kind: 'password_reset' | 'login_ticket',
    now: number,
  ): { token: string; digest: string; expiresAt: number } {
    const token = formatToken(kind, this.random.bytes(FORMATS[kind].bytes));
    const lifetimeMs = kind === 'login_ticket' ? TICKET_LIFETIME_MS : this.options.passwordResetTtlSeconds * 1000;
    return { token, digest: sha256(token), expiresAt: now + lifetimeMs };
  }

  /** The digest does not reveal the network, because it includes the presented refresh token. */
  networkDigest(refreshToken: string, network: string): string {
    return Buffer.from(sha256(`${refreshToken}\0${network}`), 'hex').toString('base64url');
  }
}

function successorOf(claims: RefreshTokenClaims): RefreshTokenClaims {
  return { ...claims, generation: claims.generation + 1 };
}

function pairOf(
  claims: RefreshTokenClaims,
  accessSecret: Uint8Array,
  refreshSecret: Uint8Array,
  seed: string | null = null,
): Successor {
  const refreshToken = formatRefreshToken(claims, refreshSecret);
  return withDigests(formatAccessToken(claims.sessionId, accessSecret), refreshToken, seed);
}

function withDigests(accessToken: string, refreshToken: string, seed: string | null = null): Successor {
  const digests = { accessDigest: sha256(accessToken), refreshDigest: sha256(refreshToken) };
  return { tokens: { accessToken, refreshToken }, digests, seed };
}
