import { BcryptPasswordHasher } from '../../libs/auth/src/adapters/hashers/bcrypt-password-hasher';

const hasher = new BcryptPasswordHasher(5);

it('BcryptPasswordHasher compares the whole password exactly as given', async () => {
  const hash = await hasher.hash(' Pâss  Word ');
  expect(await hasher.verify(' Pâss  Word ', hash)).toBe(true);
  for (const other of ['Pâss  Word', ' pâss  word ', ' Pâss Word ', ' Pâss  Wor', '']) {
    expect(await hasher.verify(other, hash)).toBe(false);
  }
});

it('BcryptPasswordHasher does not match a password over 72 bytes by its first 72 bytes', async () => {
  const hash = await hasher.hash('€'.repeat(24));
  expect(await hasher.verify('€'.repeat(24), hash)).toBe(true);
  expect(await hasher.verify('€'.repeat(25), hash)).toBe(false);
});

it('BcryptPasswordHasher verifies $2a$, $2b$ and $2y$ hashes', async () => {
  const hash = await hasher.hash('secret');
  for (const form of ['$2a', '$2b', '$2y']) expect(await hasher.verify('secret', hash.replace('$2b', form))).toBe(true);
});

it.each(['', '!', 'plain', '$2b$31$' + 'a'.repeat(53), '$2x$10$' + 'a'.repeat(53), '$1$abc$def', '$2b$10$short'])(
  'BcryptPasswordHasher does not accept the stored hash %j',
  async (hash) => {
    expect(hasher.accepts(hash)).toBe(false);
    expect(await hasher.verify('secret', hash)).toBe(false);
  },
);

it('BcryptPasswordHasher reports that a hash with a lower cost needs a rehash', async () => {
  const weak = await new BcryptPasswordHasher(4).hash('secret');
  expect([hasher.needsRehash(weak), hasher.needsRehash(await hasher.hash('secret'))]).toEqual([true, false]);
});
