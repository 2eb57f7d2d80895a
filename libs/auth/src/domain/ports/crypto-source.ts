/** Randomness and digests; the one place where the library asks for either. */
export abstract class CryptoSource {
  /** Bytes of the operating system's generator. */
  abstract randomBytes(size: number): Uint8Array;
  /** A random UUID (RFC 9562, version 4), lower case. */
  abstract uuid(): string;
  /** The SHA-256 digest of the UTF-8 text, as 64 lower-case hexadecimal characters. */
  abstract sha256(text: string): string;
}
