import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { CryptoSource } from '../domain/ports/crypto-source';

/** The operating system's generator and OpenSSL's digest, by way of Node. */
export class NodeCryptoSource extends CryptoSource {
  randomBytes(size: number): Uint8Array {
    return randomBytes(size);
  }

  uuid(): string {
    return randomUUID();
  }

  sha256(text: string): string {
    return createHash('sha256').update(text).digest('hex');
  }
}
