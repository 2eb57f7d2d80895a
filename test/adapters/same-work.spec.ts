import * as bcrypt from 'bcrypt';
import { PasswordHasher } from '../../libs/auth/src/adapters/password-hasher';
import { Argon2PasswordHasher } from '../../libs/auth/src/adapters/hashers/argon2-password-hasher';
import { BcryptPasswordHasher } from '../../libs/auth/src/adapters/hashers/bcrypt-password-hasher';
import { DjangoPbkdf2Hashes } from '../../libs/auth/src/adapters/hashers/django-pbkdf2-hashes';
import { MigratingPasswordHasher } from '../../libs/auth/src/adapters/hashers/migrating-password-hasher';
import { PrehashedBcryptPasswordHasher } from '../../libs/auth/src/adapters/hashers/prehashed-bcrypt-password-hasher';

const PASSWORD = 'correct horse battery staple';
const DJANGO = 'pbkdf2_sha256$600$kTs8d0aQ3ZbM$nftqiIGAhvn9PXB535dC3h6TnkqxJNYHwmQ3u4sIhh8=';

/** The bcrypt rounds of each hash that was created or verified. */
const rounds: number[] = [];

jest.mock('bcrypt', () => {
  const original = jest.requireActual<typeof bcrypt>('bcrypt');
  return {
    ...original,
    hash: (password: string, cost: number) => {
      rounds.push(2 ** cost);
      return original.hash(password, cost);
    },
    compare: (password: string, hash: string) => {
      rounds.push(2 ** Number(hash.split('$')[2]));
      return original.compare(password, hash);
    },
  };
});

/** Returns the total number of bcrypt rounds of one verification. */
async function roundsOf(hasher: PasswordHasher, password: string, hash: string): Promise<number> {
  rounds.length = 0;
  await hasher.verify(password, hash);
  return rounds.reduce((sum, one) => sum + one, 0);
}

describe('verifying a stored hash with a lower cost than the options', () => {
  it.each([4, 5, 6, 7, 8])(
    'a bcrypt hash of cost %d takes the rounds of cost 8, whether the password is right or wrong',
    async (cost) => {
      const hasher = new BcryptPasswordHasher(8);
      const hash = await new BcryptPasswordHasher(cost).hash(PASSWORD);
      expect([await roundsOf(hasher, PASSWORD, hash), await roundsOf(hasher, 'wrong', hash)]).toEqual([256, 256]);
      expect([await hasher.verify(PASSWORD, hash), await hasher.verify('wrong', hash)]).toEqual([true, false]);
    },
  );

  it.each(['$2a$', '$2b$', '$2y$'])('a %s hash takes the rounds of the configured cost', async (form) => {
    const hash = (await new BcryptPasswordHasher(4).hash(PASSWORD)).replace('$2b$', form);
    expect(await roundsOf(new BcryptPasswordHasher(6), PASSWORD, hash)).toBe(64);
  });

  it('PrehashedBcryptPasswordHasher takes the rounds of its cost for plain and for pre-hashed bcrypt hashes', async () => {
    const hasher = new PrehashedBcryptPasswordHasher({ cost: 6 });
    const [plain, digested] = [new BcryptPasswordHasher(4), new PrehashedBcryptPasswordHasher({ cost: 5 })];
    expect(await roundsOf(hasher, PASSWORD, await plain.hash(PASSWORD))).toBe(64);
    expect(await roundsOf(hasher, PASSWORD, await digested.hash(PASSWORD))).toBe(64);
  });

  it('an Argon2id hash takes the work of the options, which is memory times passes', async () => {
    const hasher = new Argon2PasswordHasher({ memoryKiB: 1024, passes: 2 });
    const work = recordArgon2Work(hasher);
    for (const [memoryKiB, passes] of [
      [1024, 2],
      [1024, 1],
      [512, 1],
      [64, 1],
    ] as const) {
      const hash = await new Argon2PasswordHasher({ memoryKiB, passes }).hash(PASSWORD);
      work.length = 0;
      expect(await hasher.verify(PASSWORD, hash)).toBe(true);
      expect(work.reduce((sum, one) => sum + one, 0)).toBe(2048);
    }
  });
});

describe('verifying a stored hash of another algorithm', () => {
  it('a Django hash also takes the bcrypt rounds of a login with an unknown name', async () => {
    const hasher = new MigratingPasswordHasher(new BcryptPasswordHasher(6), new DjangoPbkdf2Hashes());
    expect(await roundsOf(hasher, PASSWORD, DJANGO)).toBe(64);
    expect([await hasher.verify(PASSWORD, DJANGO), await hasher.verify('wrong', DJANGO)]).toEqual([true, false]);
  });

  it('a bcrypt hash also takes the work of one Argon2id hash, and no additional bcrypt rounds', async () => {
    const hasher = new Argon2PasswordHasher({ memoryKiB: 64, passes: 2 });
    const work = recordArgon2Work(hasher);
    const hash = await new BcryptPasswordHasher(5).hash(PASSWORD);
    expect(await roundsOf(hasher, PASSWORD, hash)).toBe(32);
    expect(work).toEqual([128]);
  });
});

/** Records the product of memory and passes for each Argon2id hash that is created or verified from now on. */
function recordArgon2Work(hasher: Argon2PasswordHasher): number[] {
  interface Argon2 {
    hash(password: string, options: { memoryCost: number; timeCost: number }): Promise<string>;
    verify(hash: string, password: string): Promise<boolean>;
  }
  const work: number[] = [];
  const counted = hasher as unknown as { argon2: Argon2 };
  const { argon2 } = counted;
  counted.argon2 = {
    hash: (password, options) => {
      work.push(options.memoryCost * options.timeCost);
      return argon2.hash(password, options);
    },
    verify: (hash, password) => {
      const [, memory, passes] = /m=(\d+),t=(\d+)/.exec(hash)!;
      work.push(Number(memory) * Number(passes));
      return argon2.verify(hash, password);
    },
  };
  return work;
}
