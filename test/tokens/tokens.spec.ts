import { randomBytes, randomUUID } from 'node:crypto';
import { Random } from '../../libs/auth/src/base/random';
import { resolveOptions } from '../../libs/auth/src/options/resolve-options';
import {
  ACCESS_SECRET_BYTES,
  FAMILY_SECRET_BYTES,
  formatAccessToken,
  formatRefreshToken,
  GENERATION_LIMIT,
  idInToken,
  isToken,
  parseRefreshToken,
  REFRESH_SECRET_BYTES,
  TokenIssuer,
} from '../../libs/auth/src/tokens/tokens';

const sessionId = randomUUID();
const issuer = new TokenIssuer(new Random(), resolveOptions({}));
const familySecret = randomBytes(FAMILY_SECRET_BYTES);

const newAccessToken = (): string => formatAccessToken(sessionId, randomBytes(ACCESS_SECRET_BYTES));
const newRefreshToken = (generation = 0): string =>
  formatRefreshToken({ sessionId, familySecret, generation }, randomBytes(REFRESH_SECRET_BYTES));
const newResetToken = (): string => issuer.issueToken('password_reset', 0).token;
const newLoginTicket = (): string => issuer.issueToken('login_ticket', 0).token;

const KINDS = [
  { kind: 'an access token', create: newAccessToken, accepts: (text: string) => idInToken('access', text) !== null },
  { kind: 'a refresh token', create: newRefreshToken, accepts: (text: string) => parseRefreshToken(text) !== null },
  { kind: 'a password reset token', create: newResetToken, accepts: (text: string) => isToken('password_reset', text) },
  { kind: 'a login ticket', create: newLoginTicket, accepts: (text: string) => isToken('login_ticket', text) },
];

describe('a token', () => {
  it('has the prefix of its kind, a payload without spare bits and a checksum', () => {
    expect(newAccessToken()).toMatch(/^nsaa_[A-Za-z0-9_-]{64}[0-9A-Za-z]{6}$/);
    expect(newRefreshToken()).toMatch(/^nsar_[A-Za-z0-9_-]{92}[0-9A-Za-z]{6}$/);
    expect(newResetToken()).toMatch(/^nsap_[A-Za-z0-9_-]{44}[0-9A-Za-z]{6}$/);
    expect(newLoginTicket()).toMatch(/^nsal_[A-Za-z0-9_-]{44}[0-9A-Za-z]{6}$/);
  });

  it.each(KINDS)('is refused if any character of $kind is changed', ({ create, accepts }) => {
    const token = create();
    for (let at = 0; at < token.length; at++) {
      expect(accepts(token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1))).toBe(false);
    }
    for (const odd of ['', ' ', `${token} `, `${token}=`, token.slice(1), token + token, token.toUpperCase()]) {
      expect(accepts(odd)).toBe(false);
    }
  });

  it('is refused if its generation reaches the 32-bit limit', () => {
    const largest = GENERATION_LIMIT - 1;
    expect(parseRefreshToken(newRefreshToken(largest))).toMatchObject({ sessionId, generation: largest });
    expect(parseRefreshToken(newRefreshToken(GENERATION_LIMIT))).toBeNull();
  });
});
