import { hash, hkdfSync, randomBytes, randomInt, randomUUID } from 'node:crypto';
import { CryptoSource } from '../domain/ports/platform';

const POOL_BYTES = 2_048;

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
