import { createCipheriv, createDecipheriv, hash, hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import { CryptoSource } from '../domain/ports/crypto-source';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The operating system's generator and OpenSSL's digests and ciphers, by way of Node. */
export class NodeCryptoSource extends CryptoSource {
  randomBytes(size: number): Uint8Array {
    return randomBytes(size);
  }

  uuid(): string {
    return randomUUID();
  }

  sha256(text: string): string {
    return hash('sha256', text);
  }

  /** AES-256-GCM (NIST SP 800-38D): nonce, tag and ciphertext, in base64url. */
  seal(secret: string, text: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, keyOf(secret), nonce);
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url');
  }

  unseal(secret: string, sealed: string): string | null {
    const bytes = Buffer.from(sealed, 'base64url');
    const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
    if (tag.length < TAG_BYTES) return null;
    const decipher = createDecipheriv(CIPHER, keyOf(secret), bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    }).setAuthTag(tag);
    try {
      return decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
    } catch {
      return null;
    }
  }
}

/** HKDF (RFC 5869). The stored SHA-256 digest of the secret is of no help in making this key. */
function keyOf(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'nestjs-session-auth sealed answer', 32));
}
