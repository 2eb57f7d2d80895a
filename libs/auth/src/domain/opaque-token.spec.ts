import { randomBytes } from 'node:crypto';
import { isToken, TOKEN_BYTES, writeToken } from './opaque-token';

describe('an opaque token', () => {
  it('has a prefix that tells its kind, 43 characters of randomness and a checksum', () => {
    expect(writeToken('access', randomBytes(TOKEN_BYTES))).toMatch(/^nsaa_[A-Za-z0-9_-]{43}[0-9A-Za-z]{6}$/);
    expect(writeToken('refresh', randomBytes(TOKEN_BYTES))).toMatch(/^nsar_/);
  });

  it('is nothing where the other kind is asked for', () => {
    const token = writeToken('access', randomBytes(TOKEN_BYTES));
    expect([isToken('access', token), isToken('refresh', token)]).toEqual([true, false]);
    expect(isToken('refresh', token.replace('nsaa_', 'nsar_'))).toBe(false);
  });

  it('is garbage when any one of its characters is another', () => {
    const token = writeToken('refresh', randomBytes(TOKEN_BYTES));
    for (let at = 0; at < token.length; at++) {
      const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
      expect(isToken('refresh', changed)).toBe(false);
    }
    for (const odd of ['', ' ', `${token} `, `${token}=`, token.slice(1), token + token, token.toUpperCase()]) {
      expect(isToken('refresh', odd)).toBe(false);
    }
  });
});
