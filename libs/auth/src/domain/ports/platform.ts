import type { ClientInfo } from '../client';
import type { DeviceInfo } from '../device';
import type { CounterName, DurationName, HistogramName, LevelName, MetricAttributes } from '../metrics';

/** The source of the current time. */
export abstract class Clock {
  /** Returns the current time in milliseconds since 1970-01-01T00:00:00Z. */
  abstract now(): number;
}

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

/**
 * Creates and verifies password hashes. Set the option `passwordHasher` to a class that extends this one,
 * or to an instance. The option `hashing` limits how many calls run at the same time. `verify` is called
 * once for each login attempt that is not refused beforehand, whether the user exists or not.
 */
export abstract class PasswordHasher {
  /** The maximum length of a password that is hashed in full, in bytes of UTF-8. A longer password is refused. */
  abstract readonly maxPasswordBytes: number;

  /** Returns a new hash, with its own salt, to be stored. */
  abstract hash(password: string): Promise<string>;

  /**
   * Returns whether the password matches the hash. Returns false for a hash whose format the class does not support.
   * Verifying a weaker hash must take as long as verifying a new hash, because passwords for unknown names are
   * verified against a new hash, and the duration must not reveal which names exist.
   */
  abstract verify(password: string, hash: string): Promise<boolean>;

  /** Returns whether `verify` can read this hash with a reasonable amount of work. */
  abstract accepts(hash: string): boolean;

  /**
   * Returns whether the hash is weaker than a new hash. If so, and if the user store can set passwords, the user's next
   * login by password replaces the hash.
   */
  abstract needsRehash(hash: string): boolean;
}

/**
 * Detects the device, operating system and browser of a client from its User-Agent. Set the option
 * `deviceDetector` to a class that extends this one, or to an instance. If a detector fails, the error is
 * logged at most once a minute, and the device is stored as unknown.
 */
export abstract class DeviceDetector {
  /**
   * Returns the device. Called at logins, refreshes and other operations with a User-Agent, if
   * devices are tracked. At most 64 characters of a name are stored.
   * @param userAgent untrusted text of at most 500 characters, without control characters
   */
  abstract detect(userAgent: string): DeviceInfo;
}

/** A call over a transport other than HTTP: the part of Nest's `ExecutionContext` from which a token is read. */
export interface TransportCall {
  /** Returns the transport: `graphql`, `ws`, `rpc`, or the name of another transport. */
  getType<Name extends string>(): Name;
  /** Returns an argument of the handler. */
  getArgByIndex<Argument = unknown>(index: number): Argument;
}

/** An access token as presented, and the client that presented it. */
export interface PresentedToken {
  readonly accessToken: string;
  readonly client?: ClientInfo;
}

/**
 * Finds the access token of a call over a transport other than HTTP, for example in the metadata of a message. Set
 * the option `tokenSource` to a class that extends this one, or to an instance. The option does not apply to HTTP
 * controllers.
 */
export abstract class TokenSource {
  /**
   * Returns the token of a call. If the result is null, the library reads the token from the
   * transport's default location.
   */
  abstract find(call: TransportCall): PresentedToken | null | Promise<PresentedToken | null>;
}

/** Stops a timer and records the duration. */
export type EndTimer = (attributes?: MetricAttributes) => void;

/** Records metrics. No method throws. */
export abstract class Metrics {
  /** Whether metrics are collected. */
  abstract readonly isOn: boolean;
  abstract count(name: CounterName, by: number, attributes?: MetricAttributes): void;
  abstract record(name: HistogramName, value: number): void;
  /** Starts a timer. Returns the function that stops the timer and records the duration. */
  abstract startTimer(name: DurationName): EndTimer;
  /** Reads a level at each export until the returned function is called. */
  abstract observe(name: LevelName, read: () => number): () => void;
}

/** Discards all metrics. */
export class NoMetrics extends Metrics {
  readonly isOn = false;

  count(): void {}

  record(): void {}

  startTimer(): EndTimer {
    return () => undefined;
  }

  observe(): () => void {
    return () => undefined;
  }
}

/**
 * A TypeORM `EntityManager` with an open transaction, such as the manager that the callback of
 * `dataSource.transaction()` receives.
 */
export interface TransactionManager {
  readonly queryRunner?: { readonly isTransactionActive: boolean } | undefined;
}

/** Lets calls of the services take part in transactions of the application. */
export abstract class ApplicationTransactions {
  /**
   * Checks that the transaction of the manager can be joined.
   * @throws Error if the manager has no open transaction, or belongs to another DataSource
   */
  abstract assertOpen(manager: TransactionManager): void;

  /** Runs the call as part of the application's transaction. Rejects if `assertOpen` throws. */
  abstract join<T>(manager: TransactionManager, call: () => Promise<T>): Promise<T>;

  /**
   * Runs a call outside the caller's transaction. On SQLite, which has only one connection, the call runs inside the
   * transaction.
   */
  abstract outsideTransaction<T>(call: () => Promise<T>): Promise<T>;

  /** Calls `report` after the commit of the caller's transaction, or immediately if there is no transaction. */
  abstract whenCommitted(report: () => void): void;
}
