/** Randomness, digests and ciphers; the one place where the library asks for any. */
export abstract class CryptoSource {
  /** Bytes of the operating system's generator. */
  abstract randomBytes(size: number): Uint8Array;
  /** A random UUID (RFC 9562, version 4), lower case. */
  abstract uuid(): string;
  /** The SHA-256 digest of the UTF-8 text, as 64 lower-case hexadecimal characters. */
  abstract sha256(text: string): string;
  /** The text, encrypted and authenticated under a key that is derived from the secret. The secret has 256 bits. */
  abstract seal(secret: string, text: string): string;
  /** What was sealed under this secret; null for whatever was not. */
  abstract unseal(secret: string, sealed: string): string | null;
}
