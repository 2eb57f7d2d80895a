import { Injectable } from '@nestjs/common';
import { hash, hkdfSync, randomBytes, randomInt, randomUUID } from 'node:crypto';

/** Returns random values from a cryptographically secure generator. */
@Injectable()
export class Random {
  private pool = Buffer.alloc(0);

  /** Returns bytes from a pool, because calling the generator is slow. No byte is used twice. */
  bytes(size: number): Uint8Array {
    if (this.pool.length < size) this.pool = randomBytes(Math.max(size, 2_048));
    const bytes = Uint8Array.prototype.slice.call(this.pool, 0, size);
    this.pool.fill(0, 0, size);
    this.pool = this.pool.subarray(size);
    return bytes;
  }

  uuid(): string {
    return randomUUID();
  }

  /** Returns an integer from 0 to `limit` - 1. */
  integer(limit: number): number {
    return randomInt(limit);
  }
}

/** Returns the SHA-256 digest of bytes, or of text in UTF-8, in lower-case hexadecimal. */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data);
}

/** Derives `size` bytes from the secret and the salt by HKDF-SHA-256 (RFC 5869). */
export function derive(secret: string, salt: Uint8Array, size: number): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, salt, 'nestjs-session-auth refresh', size));
}
