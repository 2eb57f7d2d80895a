import { pbkdf2, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { FormerHashes } from './migrating-password-hasher';

const derive = promisify(pbkdf2);

const STORED = /^pbkdf2_sha256\$(\d{1,7})\$([^$]{1,128})\$([A-Za-z0-9+/]{43}=)$/;

// Otherwise, a manipulated row could make a login take arbitrarily long.
const MAX_ITERATIONS = 2_000_000;

/** Verifies Django's default hashes: `pbkdf2_sha256$<iterations>$<salt>$<hash>` (PBKDF2, RFC 8018). */
export class DjangoPbkdf2Hashes extends FormerHashes {
  accepts(hash: string): boolean {
    const iterations = Number(STORED.exec(hash)?.[1]);
    return iterations >= 1 && iterations <= MAX_ITERATIONS;
  }

  async verify(password: string, hash: string): Promise<boolean> {
    const [, iterations, salt, digest] = STORED.exec(hash) ?? [];
    if (digest === undefined || !this.accepts(hash)) return false;
    const expected = Buffer.from(digest, 'base64');
    return timingSafeEqual(await derive(password, salt!, Number(iterations), expected.length, 'sha256'), expected);
  }
}
