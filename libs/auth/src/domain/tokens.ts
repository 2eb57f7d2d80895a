import { crc32 } from 'node:zlib';

/** Prefixes that secret scanners can search for, and payload sizes that leave no spare bits in base64url. */
const FORMATS = {
  access: { prefix: 'nsaa_', bytes: 48 },
  refresh: { prefix: 'nsar_', bytes: 69 },
  password_reset: { prefix: 'nsap_', bytes: 33 },
  login_ticket: { prefix: 'nsal_', bytes: 33 },
} as const;

type TokenKind = keyof typeof FORMATS;

const PREFIX_LENGTH = 5;
const CHECKSUM_LENGTH = 6;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const TOKEN = /^nsa[arpl]_[A-Za-z0-9_-]+$/;

const SESSION_ID_BYTES = 16;
const GENERATION_OFFSET = 32;

/** Random bytes in an access token: 256 bits, twice what ASVS 7.2.3 asks for. */
export const ACCESS_SECRET_BYTES = 32;
/** Random bytes in a refresh token. */
export const REFRESH_SECRET_BYTES = 33;
/** Random bytes that all refresh tokens of a family share. */
export const FAMILY_SECRET_BYTES = 16;
/** Random bytes in a password reset token. */
export const RESET_SECRET_BYTES = FORMATS.password_reset.bytes;
/** Random bytes in a login ticket. */
export const TICKET_SECRET_BYTES = FORMATS.login_ticket.bytes;
/** The first generation that no token has. */
export const GENERATION_LIMIT = 0xffffffff;

/** The plain tokens, on their way to the client that asked for them. They are stored nowhere. */
export interface PlainTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** When the tokens of a pair expire, in milliseconds. */
export interface PairExpiries {
  readonly accessExpiresAt: number;
  readonly refreshExpiresAt: number;
}

/** A token pair in plain text. Neither token outlives the session's `absoluteTimeoutSeconds`. */
export interface TokenPair extends PlainTokens {
  readonly accessTokenExpiresAt: Date;
  readonly refreshTokenExpiresAt: Date;
}

/** A token pair and the session that it opens. */
export interface OpenedSession extends TokenPair {
  readonly sessionId: string;
}

/** The tokens with their expiries, as a client gets them. */
export function tokenPair(
  { accessToken, refreshToken }: PlainTokens,
  { accessExpiresAt, refreshExpiresAt }: PairExpiries,
): TokenPair {
  return {
    accessToken,
    refreshToken,
    accessTokenExpiresAt: new Date(accessExpiresAt),
    refreshTokenExpiresAt: new Date(refreshExpiresAt),
  };
}

/** What a refresh token says about itself. */
export interface RefreshTokenClaims {
  readonly sessionId: string;
  readonly familySecret: Uint8Array;
  /** How many refreshes of the family came before the token was issued. */
  readonly generation: number;
}

/** An access token: the session id and random bytes. */
export function formatAccessToken(sessionId: string, secret: Uint8Array): string {
  return formatToken('access', Buffer.concat([uuidBytes(sessionId), secret]));
}

/** The session id of an access token, or null for text that is not one. */
export function accessTokenSessionId(text: string): string | null {
  const payload = tokenPayload('access', text);
  return payload && uuidText(payload);
}

/** A refresh token: the session id, the secret of its family, its generation and random bytes. */
export function formatRefreshToken(claims: RefreshTokenClaims, secret: Uint8Array): string {
  const generation = Buffer.alloc(4);
  generation.writeUInt32BE(claims.generation);
  return formatToken('refresh', Buffer.concat([uuidBytes(claims.sessionId), claims.familySecret, generation, secret]));
}

/** What a refresh token says, or null for text that is not one. */
export function parseRefreshToken(text: string): RefreshTokenClaims | null {
  const payload = tokenPayload('refresh', text);
  if (!payload) return null;
  const generation = payload.readUInt32BE(GENERATION_OFFSET);
  if (generation >= GENERATION_LIMIT) return null;
  const familySecret = payload.subarray(SESSION_ID_BYTES, GENERATION_OFFSET);
  return { sessionId: uuidText(payload), familySecret, generation };
}

/** A password reset token: random bytes alone. */
export function formatResetToken(secret: Uint8Array): string {
  return formatToken('password_reset', secret);
}

/** Whether the text has the form of a password reset token. */
export function isResetToken(text: string): boolean {
  return tokenPayload('password_reset', text) !== null;
}

/** A login ticket: random bytes alone. */
export function formatLoginTicket(secret: Uint8Array): string {
  return formatToken('login_ticket', secret);
}

/** Whether the text has the form of a login ticket. */
export function isLoginTicket(text: string): boolean {
  return tokenPayload('login_ticket', text) !== null;
}

function formatToken(kind: TokenKind, payload: Uint8Array): string {
  const body = FORMATS[kind].prefix + Buffer.from(payload).toString('base64url');
  return body + checksum(body);
}

/**
 * The payload of a token of this kind, or null. By the checksum, which is no secret, corrupted
 * tokens are refused without a query, and before anything is concluded from their content.
 */
function tokenPayload(kind: TokenKind, text: string): Buffer | null {
  const { prefix, bytes } = FORMATS[kind];
  const end = PREFIX_LENGTH + (bytes / 3) * 4;
  if (text.length !== end + CHECKSUM_LENGTH || !text.startsWith(prefix) || !TOKEN.test(text)) return null;
  if (checksum(text.slice(0, end)) !== text.slice(end)) return null;
  return Buffer.from(text.slice(PREFIX_LENGTH, end), 'base64url');
}

/** CRC-32 (ISO 3309) in six characters of base 62. */
function checksum(text: string): string {
  let rest = crc32(text);
  let written = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    written = ALPHABET.charAt(rest % 62) + written;
    rest = Math.floor(rest / 62);
  }
  return written;
}

function uuidBytes(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex');
}

function uuidText(payload: Buffer): string {
  const hex = payload.toString('hex', 0, SESSION_ID_BYTES);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
