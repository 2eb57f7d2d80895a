import { createRequire } from 'node:module';
import { PasswordHasher } from '../../domain/ports/platform';
import { loadOptionalPeer } from '../../optional-peer';
import { BcryptPasswordHasher } from './bcrypt-password-hasher';

/** The work of one hash. The defaults are OWASP's least: 19 MiB, two passes, one lane. */
export interface Argon2Work {
  readonly memoryKiB?: number;
  readonly passes?: number;
  readonly lanes?: number;
}

/** What is used of `@node-rs/argon2`. */
interface Argon2 {
  hash(password: string, options: { memoryCost: number; timeCost: number; parallelism: number }): Promise<string>;
  verify(hash: string, password: string): Promise<boolean>;
}

const STORED = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{22,86}$/;
/** A stored hash may not ask for more: whoever writes a row would decide how long a login takes. */
const MOST = { memoryKiB: 1_048_576, passes: 16, lanes: 16 } as const;

/**
 * Argon2id (RFC 9106): `passwordHasher: Argon2PasswordHasher`, or an instance with other work. Needs
 * `@node-rs/argon2`. bcrypt hashes remain valid, and are replaced at the next login.
 */
export class Argon2PasswordHasher extends PasswordHasher {
  readonly maxPasswordBytes = 4096;
  private readonly work: Required<Argon2Work>;
  private readonly argon2: Argon2;
  /** Verifies former hashes. Its cost adds no work to them. */
  private readonly bcrypt = new BcryptPasswordHasher(4);

  /** @throws Error where `@node-rs/argon2` is not installed, or the work is out of bounds */
  constructor({ memoryKiB = 19_456, passes = 2, lanes = 1 }: Argon2Work = {}) {
    super();
    const work = { memoryKiB, passes, lanes };
    for (const [name, value] of Object.entries(work) as [keyof typeof MOST, number][]) {
      const least = name === 'memoryKiB' ? 8 : 1;
      if (!Number.isSafeInteger(value) || value < least || value > MOST[name]) {
        throw new Error(
          `Argon2PasswordHasher: ${name} is ${value}; write a whole number from ${least} to ${MOST[name]}.`,
        );
      }
    }
    this.work = work;
    this.argon2 = load();
  }

  hash(password: string): Promise<string> {
    return this.hashWith(password, this.work);
  }

  async verify(password: string, hash: string): Promise<boolean> {
    if (Buffer.byteLength(password) > this.maxPasswordBytes) return false;
    if (this.bcrypt.accepts(hash)) {
      // Beside an Argon2id hash: the time must not reveal who has a former one.
      const [matches] = await Promise.all([this.bcrypt.verify(password, hash), this.hash(password)]);
      return matches;
    }
    const stored = workOf(hash);
    if (!stored || !this.accepts(hash)) return false;
    const matches = await this.argon2.verify(hash, password).catch(() => false);
    await this.addMissingWork(password, stored);
    return matches;
  }

  accepts(hash: string): boolean {
    if (this.bcrypt.accepts(hash)) return true;
    const work = workOf(hash);
    return work !== null && Object.entries(work).every(([name, value]) => value <= MOST[name as keyof typeof MOST]);
  }

  needsRehash(hash: string): boolean {
    const work = workOf(hash);
    if (!work) return this.bcrypt.accepts(hash);
    return work.memoryKiB < this.work.memoryKiB || work.passes < this.work.passes;
  }

  /** Makes up for the work of a weaker hash; work is memory times passes. */
  private async addMissingWork(password: string, stored: Required<Argon2Work>): Promise<void> {
    const { memoryKiB, passes, lanes } = this.work;
    const missing = Math.floor((memoryKiB * passes - stored.memoryKiB * stored.passes) / passes);
    // Less than Argon2 can do takes no time to speak of.
    if (missing >= 8 * lanes) await this.hashWith(password, { memoryKiB: missing, passes, lanes });
  }

  private hashWith(password: string, { memoryKiB, passes, lanes }: Required<Argon2Work>): Promise<string> {
    return this.argon2.hash(password, { memoryCost: memoryKiB, timeCost: passes, parallelism: lanes });
  }
}

function workOf(hash: string): Required<Argon2Work> | null {
  const [, memoryKiB, passes, lanes] = STORED.exec(hash) ?? [];
  if (memoryKiB === undefined) return null;
  return { memoryKiB: Number(memoryKiB), passes: Number(passes), lanes: Number(lanes) };
}

function load(): Argon2 {
  const argon2 = loadOptionalPeer<Argon2>('@node-rs/argon2', () => createRequire(__filename)('@node-rs/argon2'));
  if (!argon2) throw new Error('Argon2PasswordHasher needs @node-rs/argon2: npm install @node-rs/argon2');
  return argon2;
}
