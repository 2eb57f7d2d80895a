import { inspect } from 'node:util';
import * as argon2 from '@node-rs/argon2';
import * as bcrypt from 'bcrypt';
import {
  Argon2PasswordHasher,
  DjangoPbkdf2Hashes,
  MigratingPasswordHasher,
  type PasswordHasher,
  PrehashedBcryptPasswordHasher,
} from 'nestjs-session-auth';
import { BcryptPasswordHasher } from '../../libs/auth/src/adapters/hashers/bcrypt-password-hasher';
import { resolveOptions } from '../../libs/auth/src/options/resolve-options';

const PASSWORD = 'correct horse battery staple';
const LIGHT = { memoryKiB: 64, passes: 1 };

const HASHERS = {
  BcryptPasswordHasher: new BcryptPasswordHasher(5),
  Argon2PasswordHasher: new Argon2PasswordHasher(LIGHT),
  PrehashedBcryptPasswordHasher: new PrehashedBcryptPasswordHasher({ cost: 5 }),
  MigratingPasswordHasher: new MigratingPasswordHasher(new BcryptPasswordHasher(5), new DjangoPbkdf2Hashes()),
};

/** Passwords and their hashes in the format of Django, created with `hashlib.pbkdf2_hmac` of Python. */
const DJANGO = [
  ['lètmein', 'pbkdf2_sha256$1000$seasalt$JgZryXe2Ga8ysg6XbzkLpTdyPQrHqsinbL9BnnhgX4A='],
  [PASSWORD, 'pbkdf2_sha256$600$kTs8d0aQ3ZbM$nftqiIGAhvn9PXB535dC3h6TnkqxJNYHwmQ3u4sIhh8='],
] as const;

/** Hashes that are damaged, too expensive, or in a format that no hasher accepts. */
const UNACCEPTED = [
  ...['', '!', '!unusable', 'plain', '$1$abc$def', '$2b$10$short', 'md5$salt$0123456789abcdef0123456789abcdef'],
  ...['$2b$31$', '$2x$10$', '$hmac-sha384$2b$31$'].map((prefix) => prefix + 'a'.repeat(53)),
  '$argon2id$v=19$m=9999999,t=99,p=99$c29tZXNhbHRzb21l$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g',
  '$argon2i$v=19$m=64,t=1,p=1$c29tZXNhbHRzb21l$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g',
  'pbkdf2_sha256$9999999$salt$JgZryXe2Ga8ysg6XbzkLpTdyPQrHqsinbL9BnnhgX4A=',
  'pbkdf2_sha256$0$salt$JgZryXe2Ga8ysg6XbzkLpTdyPQrHqsinbL9BnnhgX4A=',
  'pbkdf2_sha1$1000$salt$JgZryXe2Ga8ysg6XbzkLpTdyPQrHqsinbL9BnnhgX4A=',
  'pbkdf2_sha256$1000$seasalt$short',
];

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

describe.each(Object.entries(HASHERS))('%s', (_, hasher) => {
  it('gives each hash its own salt, and compares the password exactly as given', async () => {
    // 72 bytes, of which bcrypt reads all, but no more.
    const password = ` Pâs  Word${'€'.repeat(20)} `;
    const [one, other] = [await hasher.hash(password), await hasher.hash(password)];
    expect(one).not.toBe(other);
    expect(one.length).toBeLessThanOrEqual(255);
    expect([hasher.accepts(one), hasher.needsRehash(one)]).toEqual([true, false]);
    expect(await hasher.verify(password, one)).toBe(true);
    const changed = [password.trim(), password.toLowerCase(), password.replace('  ', ' '), password.slice(0, -2)];
    for (const wrong of [...changed, `${password}x`, '']) {
      expect([wrong, await hasher.verify(wrong, one)]).toEqual([wrong, false]);
    }
  });

  it.each(['$2a$', '$2b$', '$2y$'])(
    'verifies a %s hash of a lower cost and reports that it needs a rehash',
    async (form) => {
      const hash = (await bcrypt.hash(PASSWORD, 4)).replace('$2b$', form);
      expect([await hasher.verify(PASSWORD, hash), await hasher.verify('wrong', hash)]).toEqual([true, false]);
      expect([hasher.accepts(hash), hasher.needsRehash(hash)]).toEqual([true, true]);
    },
  );

  it.each(UNACCEPTED)('does not accept the stored hash %j', async (hash) => {
    expect([hasher.accepts(hash), await hasher.verify(PASSWORD, hash)]).toEqual([false, false]);
  });
});

describe('the password hashers', () => {
  it.each(['Argon2PasswordHasher', 'PrehashedBcryptPasswordHasher'] as const)(
    '%s compares the whole password, beyond the 72 bytes of bcrypt',
    async (name) => {
      const hasher = HASHERS[name];
      const long = 'a'.repeat(100);
      const hash = await hasher.hash(long);
      const others = [long, `${long.slice(0, 99)}b`, 'a'.repeat(5000)];
      expect(await Promise.all(others.map((other) => hasher.verify(other, hash)))).toEqual([true, false, false]);
    },
  );

  it.each(DJANGO)(
    'MigratingPasswordHasher verifies the Django hash of %j, which needs a rehash',
    async (password, hash) => {
      const hasher = HASHERS.MigratingPasswordHasher;
      expect([await hasher.verify(password, hash), await hasher.verify(`${password}x`, hash)]).toEqual([true, false]);
      expect([hasher.accepts(hash), hasher.needsRehash(hash)]).toEqual([true, true]);
      expect(await hasher.hash(password)).toMatch(/^\$2b\$05\$/);
    },
  );

  it('a hash with less memory or a lower cost than the options needs a rehash', async () => {
    const hash = await HASHERS.Argon2PasswordHasher.hash(PASSWORD);
    const stronger = new Argon2PasswordHasher({ memoryKiB: 128, passes: 1 });
    expect([stronger.needsRehash(hash), await stronger.verify(PASSWORD, hash)]).toEqual([true, true]);
    expect(new Argon2PasswordHasher({ ...LIGHT, passes: 2 }).needsRehash(hash)).toBe(true);
    const cheap = await new PrehashedBcryptPasswordHasher({ cost: 4 }).hash(PASSWORD);
    expect(HASHERS.PrehashedBcryptPasswordHasher.needsRehash(cheap)).toBe(true);
  });

  it('the constructors throw for options out of range and for ids of keys that are invalid or not unique', () => {
    for (const cost of [3, 16, 10.5]) {
      expect(() => new PrehashedBcryptPasswordHasher({ cost })).toThrow(`The cost of bcrypt is ${cost}.`);
    }
    const lanes = { memoryKiB: 64, lanes: 9 };
    expect(() => new Argon2PasswordHasher(lanes)).toThrow('Set a whole number from 72 to 1048576');
    expect(() => new Argon2PasswordHasher({ passes: 0 })).toThrow('passes is 0. Set a whole number from 1 to 16');
    for (const key of ['short', undefined] as string[]) {
      expect(() => new PrehashedBcryptPasswordHasher({ key })).toThrow('at least 32 characters');
    }
    for (const ids of [['a b'], [''], ['x'.repeat(33)], ['1', '1'], [undefined]] as string[][]) {
      const otherKeys = ids.map((keyId) => ({ keyId }));
      expect(() => new PrehashedBcryptPasswordHasher({ otherKeys })).toThrow('invalid or not unique');
    }
  });

  it('the key is not part of an inspection, in JSON or among the properties', () => {
    const key = 'pepper'.repeat(6);
    const hasher = new PrehashedBcryptPasswordHasher({ cost: 4, keyId: '1', otherKeys: [{ key }] });
    const options = resolveOptions({ passwordHasher: hasher });
    const shown = [hasher, options].map((one) => inspect(one, { depth: 9, showHidden: true }) + JSON.stringify(one));
    expect(shown.filter((text) => text.includes(key))).toEqual([]);
  });

  it('a hash verifies only with the key that it was created with', async () => {
    const withKey = (letter: string): PasswordHasher =>
      new PrehashedBcryptPasswordHasher({ cost: 4, key: letter.repeat(32) });
    const hash = await withKey('a').hash(PASSWORD);
    expect(await withKey('a').verify(PASSWORD, hash)).toBe(true);
    expect(await withKey('b').verify(PASSWORD, hash)).toBe(false);
  });
});

describe('the work of verifying a stored hash', () => {
  it.each([4, 5, 6, 7, 8])(
    'a bcrypt hash of cost %d takes the rounds of cost 8, whether the password is right or wrong',
    async (cost) => {
      const hasher = new BcryptPasswordHasher(8);
      const hash = await new BcryptPasswordHasher(cost).hash(PASSWORD);
      expect([await roundsOf(hasher, PASSWORD, hash), await roundsOf(hasher, 'wrong', hash)]).toEqual([256, 256]);
    },
  );

  it('bcrypt hashes of every form, also pre-hashed, take the rounds of the configured cost', async () => {
    const plain = await new BcryptPasswordHasher(4).hash(PASSWORD);
    for (const form of ['$2a$', '$2b$', '$2y$']) {
      expect(await roundsOf(new BcryptPasswordHasher(6), PASSWORD, plain.replace('$2b$', form))).toBe(64);
    }
    const hasher = new PrehashedBcryptPasswordHasher({ cost: 6 });
    for (const hash of [plain, await new PrehashedBcryptPasswordHasher({ cost: 5 }).hash(PASSWORD)]) {
      expect(await roundsOf(hasher, PASSWORD, hash)).toBe(64);
    }
  });

  it('an Argon2id hash takes the work of the options, which is memory times passes', async () => {
    const hasher = new Argon2PasswordHasher({ memoryKiB: 1024, passes: 2 });
    const work = recordArgon2Work(hasher);
    for (const memoryKiB of [1024, 512, 64]) {
      for (const passes of [1, 2]) {
        const hash = await new Argon2PasswordHasher({ memoryKiB, passes }).hash(PASSWORD);
        expect(await hasher.verify(PASSWORD, hash)).toBe(true);
        expect(work.splice(0).reduce((sum, one) => sum + one, 0)).toBe(2048);
      }
    }
  });

  it('a Django hash also takes the bcrypt rounds of a login with an unknown name', async () => {
    const hasher = new MigratingPasswordHasher(new BcryptPasswordHasher(6), new DjangoPbkdf2Hashes());
    expect(await roundsOf(hasher, PASSWORD, DJANGO[1][1])).toBe(64);
  });

  it('a bcrypt hash also takes the work of one Argon2id hash, and no additional bcrypt rounds', async () => {
    const hasher = new Argon2PasswordHasher({ memoryKiB: 64, passes: 2 });
    const work = recordArgon2Work(hasher);
    expect(await roundsOf(hasher, PASSWORD, await new BcryptPasswordHasher(5).hash(PASSWORD))).toBe(32);
    expect(work).toEqual([128]);
  });
});

/** Records the product of memory and passes for each Argon2id hash that is created or verified from now on. */
function recordArgon2Work(hasher: Argon2PasswordHasher): number[] {
  const work: number[] = [];
  const counted = hasher as unknown as { argon2: typeof argon2 };
  counted.argon2 = {
    ...argon2,
    hash: (password, options) => {
      work.push(options!.memoryCost! * options!.timeCost!);
      return argon2.hash(password, options);
    },
    verify: (hash, password) => {
      const [, memory, passes] = /m=(\d+),t=(\d+)/.exec(String(hash))!;
      work.push(Number(memory) * Number(passes));
      return argon2.verify(hash, password);
    },
  };
  return work;
}
