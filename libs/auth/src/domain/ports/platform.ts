import type { ClientInfo } from '../client';
import type { DeviceInfo } from '../device';
import type { CounterName, DurationName, HistogramName, LevelName, MetricAttributes } from '../metrics';

/** The only source of the time. */
export abstract class Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  abstract now(): number;
}

/** Randomness, digests and key derivation. */
export abstract class CryptoSource {
  /** Bytes of the operating system's generator. */
  abstract randomBytes(size: number): Uint8Array;
  /** A random UUID (RFC 9562, version 4), lower case. */
  abstract uuid(): string;
  /** A random whole number from 0 to below `limit`. */
  abstract randomInt(limit: number): number;
  /** The SHA-256 digest of bytes, or of text in UTF-8, as 64 lower-case hexadecimal characters. */
  abstract sha256(data: string | Uint8Array): string;
  /** So many bytes that only who knows both secret and salt can derive. (HKDF-SHA-256, RFC 5869) */
  abstract derive(secret: string, salt: Uint8Array, size: number): Uint8Array;
}

/**
 * Makes and verifies password hashes; the option `passwordHasher` takes another one. The option
 * `hashing` bounds how many calls run at the same time. `verify` is called exactly once per login
 * attempt, whether the user exists or not.
 */
export abstract class PasswordHasher {
  /** The longest password that is hashed in full, in bytes of UTF-8. A longer one is refused. */
  abstract readonly maxPasswordBytes: number;

  /** A hash with a salt of its own, to be stored. */
  abstract hash(password: string): Promise<string>;

  /**
   * Whether the password is the one that was hashed; false for a hash that it cannot read. It takes
   * as long for a weaker hash as for one of `hash`: an unknown name is verified against one of those.
   */
  abstract verify(password: string, hash: string): Promise<boolean>;

  /** Whether `verify` can read this hash with a reasonable amount of work. */
  abstract accepts(hash: string): boolean;

  /** Whether the hash is weaker than those of `hash`; the next login replaces it. */
  abstract needsRehash(hash: string): boolean;
}

/**
 * Detects the device, system and browser of a client from its User-Agent; the option
 * `deviceDetector` takes another one. The text is hostile input of at most 500 characters, without
 * control characters. If a detector throws, the device counts as unknown, which is logged.
 */
export abstract class DeviceDetector {
  /** Called in every login and refresh; never for an empty User-Agent. Names are stored up to 64 characters. */
  abstract detect(userAgent: string): DeviceInfo;
}

/** A call of a handler: the part of Nest's `ExecutionContext` that is used. */
export interface TransportCall {
  /** `graphql`, `ws`, `rpc`, or what another transport calls itself. */
  getType<Name extends string>(): Name;
  /** An argument of the handler. */
  getArgByIndex<Argument = unknown>(index: number): Argument;
}

/** An access token as presented, and the client that presented it. */
export interface PresentedToken {
  readonly accessToken: string;
  readonly client?: ClientInfo;
}

/**
 * Finds the access token of a call over another transport than HTTP, for example in the metadata of
 * a message. Over HTTP a token is only read from `Authorization`.
 */
export abstract class TokenSource {
  /** The token; with null, the usual place of the transport is read. */
  abstract find(call: TransportCall): PresentedToken | null | Promise<PresentedToken | null>;
}

/** Ends the measuring of a duration. */
export type EndTimer = (attributes?: MetricAttributes) => void;

/** Where measurements go. Called after the commit; never fails. */
export abstract class Metrics {
  /** Whether anything is measured. */
  abstract readonly isOn: boolean;
  abstract count(name: CounterName, by: number, attributes?: MetricAttributes): void;
  abstract record(name: HistogramName, value: number): void;
  /** Measures from now until the returned function is called. */
  abstract startTimer(name: DurationName): EndTimer;
  /** Reads a level at each export; the returned function ends that. */
  abstract observe(name: LevelName, read: () => number): () => void;
}

/** Measures nothing. */
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

/** What is used of a TypeORM `EntityManager`: the one that `dataSource.transaction()` hands out. */
export interface TransactionManager {
  readonly queryRunner?: { readonly isTransactionActive: boolean } | undefined;
}

/** Transactions of the application, in which calls of the service can take part. */
export abstract class ApplicationTransactions {
  /** @throws Error for a manager that is in no transaction, or of another DataSource */
  abstract assertOpen(manager: TransactionManager): void;

  /** Runs the call as a part of the application's transaction; rejects where `assertOpen` throws. */
  abstract join<T>(manager: TransactionManager, call: () => Promise<T>): Promise<T>;

  /** Runs a call outside the caller's transaction, except on SQLite, where all share one connection. */
  abstract outsideTransaction<T>(call: () => Promise<T>): Promise<T>;

  /** Calls `report` when the caller's transaction is committed; without one, immediately. */
  abstract whenCommitted(report: () => void): void;
}
