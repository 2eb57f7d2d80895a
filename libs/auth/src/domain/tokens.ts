import { crc32 } from 'node:zlib';

/**
 * The prefix and payload size of each kind of token. Secret scanners can search for the prefixes. The sizes leave no
 * spare bits in base64url.
 */
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

/** The number of random bytes in an access token: 256 bits, twice the minimum of ASVS 7.2.3. */
export const ACCESS_SECRET_BYTES = 32;
/** The number of random bytes in a refresh token. */
export const REFRESH_SECRET_BYTES = 33;
/** The number of random bytes that all refresh tokens of a family share. */
export const FAMILY_SECRET_BYTES = 16;
/** The number of random bytes in a password reset token. */
export const RESET_SECRET_BYTES = FORMATS.password_reset.bytes;
/** The number of random bytes in a login ticket. */
export const TICKET_SECRET_BYTES = FORMATS.login_ticket.bytes;
/** The exclusive upper bound of generations. */
export const GENERATION_LIMIT = 0xffffffff;

/** A token pair in plain text. The database stores only digests of the tokens. */
export interface PlainTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** When the tokens of a pair expire, in milliseconds. */
export interface PairExpiries {
  readonly accessExpiresAt: number;
  readonly refreshExpiresAt: number;
}

/** A token pair in plain text, with its expiries. Neither token is valid after the session's absolute timeout. */
export interface TokenPair extends PlainTokens {
  readonly accessTokenExpiresAt: Date;
  readonly refreshTokenExpiresAt: Date;
}

/** The token pair and the id of a session that a login opened. */
export interface OpenedSession extends TokenPair {
  readonly sessionId: string;
}

/** Returns the tokens with their expiries as dates. */
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

/** The claims in the text of a refresh token. */
export interface RefreshTokenClaims {
  readonly sessionId: string;
  readonly familySecret: Uint8Array;
  /** The number of rotations in the family before the token was issued. */
  readonly generation: number;
}

/** Returns an access token that contains the session id and the secret. */
export function formatAccessToken(sessionId: string, secret: Uint8Array): string {
  return formatToken('access', Buffer.concat([uuidBytes(sessionId), secret]));
}

/** Returns the session id of an access token, or null if the text is not an access token. */
export function accessTokenSessionId(text: string): string | null {
  const payload = tokenPayload('access', text);
  return payload && uuidText(payload);
}

/** Returns a refresh token that contains the claims (session id, family secret and generation) and the secret. */
export function formatRefreshToken(claims: RefreshTokenClaims, secret: Uint8Array): string {
  const generation = Buffer.alloc(4);
  generation.writeUInt32BE(claims.generation);
  return formatToken('refresh', Buffer.concat([uuidBytes(claims.sessionId), claims.familySecret, generation, secret]));
}

/** Returns the claims of a refresh token, or null if the text is not a refresh token. */
export function parseRefreshToken(text: string): RefreshTokenClaims | null {
  const payload = tokenPayload('refresh', text);
  if (!payload) return null;
  const generation = payload.readUInt32BE(GENERATION_OFFSET);
  if (generation >= GENERATION_LIMIT) return null;
  const familySecret = payload.subarray(SESSION_ID_BYTES, GENERATION_OFFSET);
  return { sessionId: uuidText(payload), familySecret, generation };
}

/** Returns the password reset token that contains this secret. */
export function formatResetToken(secret: Uint8Array): string {
  return formatToken('password_reset', secret);
}

/** Returns whether the text has the form of a password reset token. */
export function isResetToken(text: string): boolean {
  return tokenPayload('password_reset', text) !== null;
}

/** Returns the login ticket that contains this secret. */
export function formatLoginTicket(secret: Uint8Array): string {
  return formatToken('login_ticket', secret);
}

/** Returns whether the text has the form of a login ticket. */
export function isLoginTicket(text: string): boolean {
  return tokenPayload('login_ticket', text) !== null;
}

function formatToken(kind: TokenKind, payload: Uint8Array): string {
  const body = FORMATS[kind].prefix + Buffer.from(payload).toString('base64url');
  return body + checksum(body);
}

/**
 * Returns the payload of a token of this kind, or null if the text is not such a token. The checksum is not a secret.
 * Checking the checksum detects corrupted tokens before the content is used and the database is queried.
 */
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
