import { inspect } from 'node:util';
import * as bcrypt from 'bcrypt';
import { Argon2PasswordHasher } from '../../libs/auth/src/adapters/hashers/argon2-password-hasher';
import { PrehashedBcryptPasswordHasher } from '../../libs/auth/src/adapters/hashers/prehashed-bcrypt-password-hasher';
import { resolveOptions } from '../../libs/auth/src/options/resolve-options';

const PASSWORD = 'correct horse battery staple';
const LIGHT = { memoryKiB: 64, passes: 1 };

const HASHERS = {
  Argon2PasswordHasher: () => new Argon2PasswordHasher(LIGHT),
  PrehashedBcryptPasswordHasher: () => new PrehashedBcryptPasswordHasher({ cost: 4 }),
};

describe.each(Object.entries(HASHERS))('%s', (_, create) => {
  const hasher = create();

  it('gives each hash its own salt, and verifies its own hashes', async () => {
    const [one, other] = [await hasher.hash(PASSWORD), await hasher.hash(PASSWORD)];
    expect(one).not.toBe(other);
    expect(one.length).toBeLessThanOrEqual(255);
    expect([await hasher.verify(PASSWORD, one), await hasher.verify(`${PASSWORD} `, one)]).toEqual([true, false]);
    expect([hasher.accepts(one), hasher.needsRehash(one)]).toEqual([true, false]);
  });

  it('compares the whole password, beyond the 72 bytes of bcrypt', async () => {
    const long = 'a'.repeat(100);
    const hash = await hasher.hash(long);
    expect([await hasher.verify(long, hash), await hasher.verify(`${long.slice(0, 99)}b`, hash)]).toEqual([
      true,
      false,
    ]);
    expect(await hasher.verify('a'.repeat(5000), await hasher.hash(long))).toBe(false);
  });

  it.each(['$2a$', '$2b$', '$2y$'])(
    'verifies %s hashes of bcrypt and reports that they need a rehash',
    async (version) => {
      const hash = (await bcrypt.hash(PASSWORD, 4)).replace('$2b$', version);
      expect([await hasher.verify(PASSWORD, hash), await hasher.verify('wrong', hash)]).toEqual([true, false]);
      expect([hasher.accepts(hash), hasher.needsRehash(hash)]).toEqual([true, true]);
    },
  );

  it.each([
    '',
    '!',
    'garbage',
    '$2b$31$aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    '$hmac-sha384$2b$31$aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    '$argon2id$v=19$m=9999999,t=99,p=99$c29tZXNhbHRzb21l$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g',
    '$argon2i$v=19$m=64,t=1,p=1$c29tZXNhbHRzb21l$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g',
  ])('does not accept the stored hash %j', async (hash) => {
    expect([hasher.accepts(hash), await hasher.verify(PASSWORD, hash)]).toEqual([false, false]);
  });
});

describe('the options of the replacement hashers', () => {
  it('a hash with less memory or a lower cost than the options needs a rehash', async () => {
    const hash = await new Argon2PasswordHasher(LIGHT).hash(PASSWORD);
    const stronger = new Argon2PasswordHasher({ memoryKiB: 128, passes: 1 });
    expect([stronger.needsRehash(hash), await stronger.verify(PASSWORD, hash)]).toEqual([true, true]);
    const cheap = await new PrehashedBcryptPasswordHasher({ cost: 4 }).hash(PASSWORD);
    expect(new PrehashedBcryptPasswordHasher({ cost: 5 }).needsRehash(cheap)).toBe(true);
  });

  it('the constructors throw for options out of range', () => {
    for (const cost of [3, 16, 10.5]) {
      expect(() => new PrehashedBcryptPasswordHasher({ cost })).toThrow(`The cost of bcrypt is ${cost}.`);
    }
    expect(() => new Argon2PasswordHasher({ memoryKiB: 64, lanes: 9 })).toThrow(
      'Set a whole number from 72 to 1048576',
    );
    expect(() => new Argon2PasswordHasher({ passes: 0 })).toThrow('passes is 0. Set a whole number from 1 to 16');
    expect(() => new PrehashedBcryptPasswordHasher({ key: 'short' })).toThrow('at least 32 characters');
    const unset = { key: undefined } as unknown as { key: string };
    expect(() => new PrehashedBcryptPasswordHasher(unset)).toThrow('at least 32 characters');
  });

  it('the key is not part of an inspection, in JSON or among the properties', () => {
    const key = 'pepper'.repeat(6);
    const hasher = new PrehashedBcryptPasswordHasher({ cost: 4, key });
    const options = resolveOptions({ passwordHasher: hasher });
    const shown = [hasher, options].map((one) => inspect(one, { depth: 9, showHidden: true }) + JSON.stringify(one));
    expect(shown.filter((text) => text.includes(key))).toEqual([]);
  });

  it('a hash verifies only with the key that it was created with', async () => {
    const [one, other] = ['a', 'b'].map(
      (letter) => new PrehashedBcryptPasswordHasher({ cost: 4, key: letter.repeat(32) }),
    );
    const hash = await one!.hash(PASSWORD);
    expect([await one!.verify(PASSWORD, hash), await other!.verify(PASSWORD, hash)]).toEqual([true, false]);
  });
});
