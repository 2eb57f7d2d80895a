/** What a token is good for. A token of one kind is nothing where the other is asked for. */
export type TokenKind = 'access' | 'refresh' | 'password_reset';

/** 32 random bytes: 256 bits, twice what ASVS 7.2.3 asks for. */
export const TOKEN_BYTES = 32;

const PREFIXES: Record<TokenKind, string> = { access: 'nsaa_', refresh: 'nsar_', password_reset: 'nsap_' };
const SHAPE = /^nsa[arp]_[A-Za-z0-9_-]{43}[0-9A-Za-z]{6}$/;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * Writes a token: a prefix that tells the kind and that secret scanners can look for, the random bytes in base64url
 * (RFC 4648, section 5), and a checksum. It means nothing: no user, no time, no right is in it.
 */
export function writeToken(kind: TokenKind, random: Uint8Array): string {
  const body = PREFIXES[kind] + Buffer.from(random).toString('base64url');
  return body + checksum(body);
}

/**
 * Whether the text has the form of a token of this kind, so that garbage is turned away without a query. The checksum
 * is no secret and proves nothing; and nothing is decoded: base64url reads several texts as the same bytes.
 */
export function isToken(kind: TokenKind, text: string): boolean {
  if (!SHAPE.test(text) || !text.startsWith(PREFIXES[kind])) return false;
  return checksum(text.slice(0, -6)) === text.slice(-6);
}

/** The remainder of each byte. */
const REMAINDERS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  return crc;
});

/** CRC-32 (ISO 3309) in six characters of base 62. */
function checksum(text: string): string {
  let crc = 0xffffffff;
  for (let i = 0; i < text.length; i++) crc = (crc >>> 8) ^ REMAINDERS[(crc ^ text.charCodeAt(i)) & 0xff]!;
  let rest = (crc ^ 0xffffffff) >>> 0;
  let written = '';
  for (let i = 0; i < 6; i++) {
    written = ALPHABET.charAt(rest % 62) + written;
    rest = Math.floor(rest / 62);
  }
  return written;
}
