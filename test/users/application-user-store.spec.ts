import { Logger } from '@nestjs/common';
import { type StoredUser, UserStore } from '../../libs/auth/src/adapters/user-store';
import type { Database } from '../../libs/auth/src/database/database';
import type { StatementFactory } from '../../libs/auth/src/database/statements';
import { ExternalUsers } from '../../libs/auth/src/users/external-users';

const database = {} as Database;
const statements = { statement: () => ({}) } as unknown as StatementFactory;

class FailingUsers extends UserStore {
  findByUsername(): Promise<StoredUser | null> {
    return new Promise(() => undefined);
  }
  findById(): Promise<StoredUser | null> {
    return Promise.reject(new Error('the directory is away', { cause: new RangeError('too far') }));
  }
}

describe('a failing user store', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('a user store that takes longer than five seconds fails with database_unavailable', async () => {
    const error = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    const answer = expect(
      new ExternalUsers(new FailingUsers(), 'exact', database, statements).findByName('alice'),
    ).rejects.toMatchObject({
      code: 'database_unavailable',
    });
    await jest.advanceTimersByTimeAsync(5_000);
    await answer;
    expect(error).toHaveBeenCalledWith(
      'The user store failed in findByUsername(): TimeoutError: No answer within 5000 ms',
      expect.any(String),
    );
  });

  it('a user store that rejects fails with database_unavailable, and its error is logged with the cause but not returned', async () => {
    const error = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    const asked = new ExternalUsers(new FailingUsers(), 'exact', database, statements).findById('7');
    await expect(asked).rejects.toMatchObject({
      code: 'database_unavailable',
      message: 'The user store is unavailable.',
    });
    expect(error).toHaveBeenCalledWith(
      'The user store failed in findById(): Error: the directory is away',
      expect.stringMatching(
        /^Error: the directory is away\n +at FailingUsers\.findById [^]*\nCaused by: RangeError: too far/,
      ),
    );
    expect(jest.getTimerCount()).toBe(0);
  });
});

class FixedUsers extends UserStore {
  constructor(private readonly result: unknown) {
    super();
  }
  findByUsername(): Promise<StoredUser | null> {
    return Promise.resolve(this.result as StoredUser);
  }
  findById(): Promise<StoredUser | null> {
    return Promise.resolve(this.result as StoredUser);
  }
  override create(): Promise<StoredUser | null> {
    return Promise.resolve(this.result as StoredUser);
  }
  override setPasswordHash(): Promise<boolean> {
    return Promise.resolve(this.result as boolean);
  }
  override setActive(): Promise<boolean> {
    return Promise.resolve(this.result as boolean);
  }
}

class NumericIdUsers extends FixedUsers {
  override parseId(text: string): number {
    return Number(text);
  }
}

describe('the results of a user store', () => {
  const alice = { id: '7', username: 'alice', passwordHash: 'the-hash', active: true };
  const without = (name: keyof StoredUser): object => ({ ...alice, [name]: undefined });
  const adapterOf = (store: UserStore): ExternalUsers => new ExternalUsers(store, 'exact', database, statements);
  const unavailable = { code: 'database_unavailable', message: 'The user store is unavailable.' };
  let error: jest.SpyInstance;

  beforeEach(() => {
    error = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    error.mockClear();
  });

  const logged = (): string => error.mock.calls.map(([text]) => String(text)).join('\n');

  it.each([
    ['undefined', undefined, /returned undefined\. Return \{ id: .* or null if there is no such user/],
    ['an array', [alice], /returned an array\. Return/],
    ['a string', 'alice', /returned a string\. Return/],
    [
      'a user without username',
      { id: '7', email: 'alice', passwordHash: 'the-hash', active: true },
      /username is undefined\. Return/,
    ],
    ['a user whose username is a number', { ...alice, username: 7 }, /username is a number\. Return/],
    ['a user without passwordHash', without('passwordHash'), /passwordHash is undefined\. Return/],
    ['a user without active', without('active'), /active is undefined\. Return/],
    ['a user whose active is a number', { ...alice, active: 1 }, /active is a number\. Return/],
    ['a user without id', without('id'), /id is undefined\. Return/],
    ['a user whose id is an object', { ...alice, id: { hex: '7' } }, /id is an object\. Return/],
    [
      'a user with a numeric id from a store without parseId()',
      { ...alice, id: 7 },
      /id is a number, .* override parseId\(text: string\) \{ return Number\(text\); \}/,
    ],
    ['a user whose id ends with a space', { ...alice, id: '7 ' }, /id ends with a space\..*Return ids without them/],
    ['a user with a bigint id from a store without parseId()', { ...alice, id: 7n }, /return BigInt\(text\); \}/],
  ])(
    'a lookup for which the user store returns %s fails, and the log contains types but no values',
    async (_, result, message) => {
      const users = adapterOf(new FixedUsers(result));
      await expect(users.findByName('7')).rejects.toMatchObject(unavailable);
      expect(logged()).toContain('findByUsername() of the user store returned ');
      await expect(users.findById('7')).rejects.toMatchObject(unavailable);
      expect(logged()).toContain('findById() of the user store returned ');
      expect(logged()).toMatch(message);
      expect(logged()).not.toMatch(/the-hash|alice/);
    },
  );

  it('create() fails with database_unavailable if the user store returns undefined', async () => {
    class Creating extends FixedUsers {
      override findByUsername(): Promise<null> {
        return Promise.resolve(null);
      }
    }
    const create = adapterOf(new Creating(undefined)).create({ username: 'alice', passwordHash: null });
    await expect(create).rejects.toMatchObject(unavailable);
    expect(logged()).toContain('create() of the user store returned undefined.');
  });

  it.each([undefined, null, 1, { affected: 1 }])(
    'setPasswordHash() and setActive() fail with database_unavailable if the user store returns %p',
    async (result) => {
      const users = adapterOf(new FixedUsers(result));
      await expect(users.setHash('7', 'the-hash')).rejects.toMatchObject(unavailable);
      await expect(users.setActive('7', false)).rejects.toMatchObject(unavailable);
      expect(logged()).toMatch(
        /setPasswordHash\(\) of the user store returned .*Return true, or false if the user is unknown or the stored hash/,
      );
      expect(logged()).toMatch(
        /setActive\(\) of the user store returned .*Return true, or false if the user is unknown\./,
      );
      expect(logged()).not.toContain('the-hash');
    },
  );

  it('null, booleans, users without a password and numeric ids with parseId() are returned unchanged', async () => {
    expect(await adapterOf(new FixedUsers(null)).findByName('alice')).toBeNull();
    const bob = { ...alice, passwordHash: null };
    expect(await adapterOf(new FixedUsers(bob)).findById('7')).toBe(bob);
    const carol = { ...alice, id: 7 };
    expect(await adapterOf(new NumericIdUsers(carol)).findById(7)).toBe(carol);
    expect(await adapterOf(new FixedUsers(false)).setActive('7', true)).toBe(false);
    expect(await adapterOf(new FixedUsers(true)).setActive('7', true)).toBe(true);
    expect(logged()).toBe('');
  });

  it('load() returns the user without the password hash by default', async () => {
    const users = adapterOf(new FixedUsers({ ...alice, role: 'admin' }));
    expect(await users.load('7')).toEqual({ id: '7', username: 'alice', active: true, role: 'admin' });
    expect(await adapterOf(new FixedUsers(null)).load('7')).toBeNull();
  });

  it('load() returns id, username and active of a user that defines them as accessors', async () => {
    class Row {
      readonly key = 7;
      get id(): string {
        return String(this.key);
      }
      get username(): string {
        return 'alice';
      }
      get passwordHash(): string {
        return 'the-hash';
      }
      get active(): boolean {
        return true;
      }
    }
    expect(await adapterOf(new FixedUsers(new Row())).load('7')).toEqual({
      key: 7,
      id: '7',
      username: 'alice',
      active: true,
    });
  });
});
