import { createRequire } from 'node:module';
import { loadOptionalPeer } from '../../base/optional-peer';
import { PasswordHasher } from '../password-hasher';
import { BcryptPasswordHasher } from './bcrypt-password-hasher';

/** The work of one hash. The defaults are OWASP's minimum. */
export interface Argon2Parameters {
  /** The memory, in KiB, 8 to 1048576, and at least 8 for each lane. Default: 19456 (19 MiB). */
  readonly memoryKiB?: number;
  /** The number of passes over the memory, 1 to 16. Default: 2. */
  readonly passes?: number;
  /** The degree of parallelism, 1 to 16. Default: 1. */
  readonly lanes?: number;
}

interface Argon2 {
  hash(password: string, options: { memoryCost: number; timeCost: number; parallelism: number }): Promise<string>;
  verify(hash: string, password: string): Promise<boolean>;
}

const STORED_HASH =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{22,86}$/;

// Otherwise, a manipulated row could make a login take arbitrarily long.
const MAX = { memoryKiB: 1_048_576, passes: 16, lanes: 16 } as const;

/**
 * Hashes passwords with Argon2id (RFC 9106). Requires the package `@node-rs/argon2`. Bcrypt hashes of a cost up to 15
 * stay valid, and need a rehash.
 */
export class Argon2PasswordHasher extends PasswordHasher {
  readonly maxPasswordBytes = 4096;
  private readonly work: Required<Argon2Parameters>;
  private readonly argon2: Argon2;
  // With the minimum cost, verifying a bcrypt hash costs no additional work.
  private readonly bcrypt = new BcryptPasswordHasher(4);

  /** @throws Error if `@node-rs/argon2` cannot be loaded, or a parameter is out of range */
  constructor({ memoryKiB = 19_456, passes = 2, lanes = 1 }: Argon2Parameters = {}) {
    super();
    const work = { memoryKiB, passes, lanes };
    for (const [name, value] of Object.entries(work) as [keyof typeof MAX, number][]) {
      const least = name === 'memoryKiB' ? 8 * lanes : 1;
      if (Number.isSafeInteger(value) && value >= least && value <= MAX[name]) continue;
      throw new Error(`Argon2PasswordHasher: ${name} is ${value}. Set a whole number from ${least} to ${MAX[name]}.`);
    }
    const argon2 = loadOptionalPeer<Argon2>('@node-rs/argon2', () => createRequire(__filename)('@node-rs/argon2'));
    if (!argon2) throw new Error('Argon2PasswordHasher requires a package. Run npm install @node-rs/argon2.');
    this.work = work;
    this.argon2 = argon2;
  }

  hash(password: string): Promise<string> {
    return this.hashWith(password, this.work);
  }

  async verify(password: string, hash: string): Promise<boolean> {
    if (Buffer.byteLength(password) > this.maxPasswordBytes) return false;
    if (this.bcrypt.accepts(hash)) {
      // Also computes an Argon2id hash, because a cheap bcrypt hash would be verified faster.
      const [matches] = await Promise.all([this.bcrypt.verify(password, hash), this.hash(password)]);
      return matches;
    }
    const stored = workOf(hash);
    if (!stored) return false;
    const matches = await this.argon2.verify(hash, password).catch(() => false);
    await this.addMissingWork(password, stored);
    return matches;
  }

  accepts(hash: string): boolean {
    return this.bcrypt.accepts(hash) || workOf(hash) !== null;
  }

  needsRehash(hash: string): boolean {
    const work = workOf(hash);
    if (!work) return this.bcrypt.accepts(hash);
    return work.memoryKiB < this.work.memoryKiB || work.passes < this.work.passes;
  }

  /** Does the work, memory times passes, that a weaker stored hash lacks. */
  private async addMissingWork(password: string, stored: Required<Argon2Parameters>): Promise<void> {
    const { memoryKiB, passes, lanes } = this.work;
    const missing = Math.floor((memoryKiB * passes - stored.memoryKiB * stored.passes) / passes);
    // Below the minimum memory of Argon2, the difference in time is negligible.
    if (missing >= 8 * lanes) await this.hashWith(password, { memoryKiB: missing, passes, lanes });
  }

  private hashWith(password: string, { memoryKiB, passes, lanes }: Required<Argon2Parameters>): Promise<string> {
    return this.argon2.hash(password, { memoryCost: memoryKiB, timeCost: passes, parallelism: lanes });
  }
}

/** Returns the parameters of a stored hash. Returns null if it is no Argon2id hash or exceeds the maximum work. */
function workOf(hash: string): Required<Argon2Parameters> | null {
  const [memoryKiB = NaN, passes = NaN, lanes = NaN] = STORED_HASH.exec(hash)?.slice(1).map(Number) ?? [];
  const isAccepted = memoryKiB <= MAX.memoryKiB && passes <= MAX.passes && lanes <= MAX.lanes;
  return isAccepted ? { memoryKiB, passes, lanes } : null;
}
