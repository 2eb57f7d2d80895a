import { BcryptPasswordHasher } from '../../libs/auth/src/adapters/hashers/bcrypt-password-hasher';
import { DjangoPbkdf2Hashes } from '../../libs/auth/src/adapters/hashers/django-pbkdf2-hashes';
import { MigratingPasswordHasher } from '../../libs/auth/src/adapters/hashers/migrating-password-hasher';

/** Passwords and their hashes in the format of Django, created with `hashlib.pbkdf2_hmac` of Python. */
const DJANGO = [
  ['lètmein', 'pbkdf2_sha256$1000$seasalt$JgZryXe2Ga8ysg6XbzkLpTdyPQrHqsinbL9BnnhgX4A='],
  ['correct horse battery staple', 'pbkdf2_sha256$600$kTs8d0aQ3ZbM$nftqiIGAhvn9PXB535dC3h6TnkqxJNYHwmQ3u4sIhh8='],
] as const;

describe('MigratingPasswordHasher with Django hashes', () => {
  const hasher = new MigratingPasswordHasher(new BcryptPasswordHasher(4), new DjangoPbkdf2Hashes());

  it.each(DJANGO)('verifies the Django hash of %j and reports that it needs a rehash', async (password, hash) => {
    expect([await hasher.verify(password, hash), await hasher.verify(`${password}x`, hash)]).toEqual([true, false]);
    expect([hasher.accepts(hash), hasher.needsRehash(hash)]).toEqual([true, true]);
    const raised = await hasher.hash(password);
    expect(raised).toMatch(/^\$2b\$04\$/);
    expect([await hasher.verify(password, raised), hasher.needsRehash(raised)]).toEqual([true, false]);
  });

  it.each([
    '!unusable',
    '',
    'pbkdf2_sha256$9999999$salt$JgZryXe2Ga8ysg6XbzkLpTdyPQrHqsinbL9BnnhgX4A=',
    'pbkdf2_sha256$0$salt$JgZryXe2Ga8ysg6XbzkLpTdyPQrHqsinbL9BnnhgX4A=',
    'pbkdf2_sha1$1000$salt$JgZryXe2Ga8ysg6XbzkLpTdyPQrHqsinbL9BnnhgX4A=',
    'pbkdf2_sha256$1000$seasalt$short',
    'md5$salt$0123456789abcdef0123456789abcdef',
  ])('does not accept the stored hash %j', async (hash) => {
    expect([hasher.accepts(hash), await hasher.verify('lètmein', hash)]).toEqual([false, false]);
  });
});
