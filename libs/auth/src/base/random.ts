import { hash, hkdfSync, randomBytes, randomInt, randomUUID } from 'node:crypto';

const POOL_BYTES = 2_048;

/** Provides random values, digests and key derivation. */
export abstract class CryptoSource {
  /** Returns bytes from a cryptographically secure random number generator. */
  abstract randomBytes(size: number): Uint8Array;
  /** Returns a random UUID (RFC 9562, version 4) in lower case. */
  abstract uuid(): string;
  /** Returns a random integer from 0 up to, but not including, `limit`. */
  abstract randomInt(limit: number): number;
  /** Returns the SHA-256 digest of bytes, or of text in UTF-8, as 64 lower-case hexadecimal characters. */
  abstract sha256(data: string | Uint8Array): string;
  /** Derives `size` bytes from the secret and the salt by HKDF-SHA-256 (RFC 5869). */
  abstract derive(secret: string, salt: Uint8Array, size: number): Uint8Array;
}

/** Implements `CryptoSource` with `node:crypto`. */
export class NodeCryptoSource extends CryptoSource {
  private pool = Buffer.alloc(0);

  /** Returns random bytes from a pool, because calling the generator is slow. No byte is used twice. */
  randomBytes(size: number): Uint8Array {
    if (this.pool.length < size) this.pool = randomBytes(Math.max(size, POOL_BYTES));
    const bytes = Uint8Array.prototype.slice.call(this.pool, 0, size);
    this.pool.fill(0, 0, size);
    this.pool = this.pool.subarray(size);
    return bytes;
  }

  uuid(): string {
    return randomUUID();
  }

  randomInt(limit: number): number {
    return randomInt(limit);
  }

  sha256(data: string | Uint8Array): string {
    return hash('sha256', data);
  }

  derive(secret: string, salt: Uint8Array, size: number): Uint8Array {
    return new Uint8Array(hkdfSync('sha256', secret, salt, 'nestjs-session-auth refresh', size));
  }
}
