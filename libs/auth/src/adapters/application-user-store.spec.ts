import { Logger } from '@nestjs/common';
import { type StoredUser, UserStore } from '../domain/ports/accounts';
import { ApplicationUserStore } from './application-user-store';

class SilentUsers extends UserStore {
  findByUsername(): Promise<StoredUser | null> {
    return new Promise(() => undefined);
  }
  findById(): Promise<StoredUser | null> {
    return Promise.reject(new Error('the directory is away', { cause: new RangeError('too far') }));
  }
}

describe("a user store of the host's", () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('that does not answer within five seconds is not available', async () => {
    const error = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    const answer = expect(
      new ApplicationUserStore(new SilentUsers(), 'exact').findByUsername('alice'),
    ).rejects.toMatchObject({
      code: 'database_unavailable',
    });
    await jest.advanceTimersByTimeAsync(5_000);
    await answer;
    expect(error).toHaveBeenCalledWith(
      'The user store failed in findByUsername(): StoreTimeout: No answer within 5000 ms',
      expect.any(String),
    );
  });

  it('that rejects is not available; its error is logged with its cause, and not returned', async () => {
    const error = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    const asked = new ApplicationUserStore(new SilentUsers(), 'exact').findById('7');
    await expect(asked).rejects.toMatchObject({
      code: 'database_unavailable',
      message: 'The user store does not answer.',
    });
    expect(error).toHaveBeenCalledWith(
      'The user store failed in findById(): Error: the directory is away',
      expect.stringMatching(
        /^Error: the directory is away\n +at SilentUsers\.findById [^]*\nCaused by: RangeError: too far/,
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

class NumberedUsers extends FixedUsers {
  override parseId(text: string): number {
    return Number(text);
  }
}

describe('a user store that returns', () => {
  const alice = { id: '7', username: 'alice', passwordHash: 'the-hash', active: true };
  const without = (name: keyof StoredUser): object => ({ ...alice, [name]: undefined });
  const of = (store: UserStore): ApplicationUserStore => new ApplicationUserStore(store, 'exact');
  const unavailable = { code: 'database_unavailable', message: 'The user store does not answer.' };
  let error: jest.SpyInstance;

  beforeEach(() => {
    error = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    error.mockClear();
  });

  const logged = (): string => error.mock.calls.map(([text]) => String(text)).join('\n');

  it.each([
    ['undefined', undefined, /\(\) undefined\. Return \{ id: .* or null for nobody/],
    ['an array', [alice], /\(\) an array\. Return/],
    ['a text', 'alice', /\(\) string\. Return/],
    [
      'no username',
      { id: '7', email: 'alice', passwordHash: 'the-hash', active: true },
      /email: string.*: username is undefined\. Return/,
    ],
    ['a number as username', { ...alice, username: 7 }, /username is number\. Return/],
    ['no passwordHash', without('passwordHash'), /passwordHash is undefined\. Return/],
    ['no active', without('active'), /active is undefined\. Return/],
    ['a number as active', { ...alice, active: 1 }, /active is number\. Return/],
    ['no id', without('id'), /id is undefined\. Return/],
    ['an object as id', { ...alice, id: { hex: '7' } }, /id is object\. Return/],
    [
      'a number as id without parseId()',
      { ...alice, id: 7 },
      /id is number, .* override parseId\(text: string\) \{ return Number\(text\); \}/,
    ],
    ['a bigint as id without parseId()', { ...alice, id: 7n }, /return BigInt\(text\); \}/],
  ])('%s does not answer, and the log names the types and what to return, but no value', async (_, result, message) => {
    for (const method of ['findByUsername', 'findById'] as const) {
      await expect(of(new FixedUsers(result))[method]('7')).rejects.toMatchObject(unavailable);
      expect(logged()).toContain(`The user store returned from ${method}() `);
    }
    expect(logged()).toMatch(message);
    expect(logged()).not.toMatch(/the-hash|alice/);
  });

  it('undefined from create() does not answer', async () => {
    class Creating extends FixedUsers {
      override findByUsername(): Promise<null> {
        return Promise.resolve(null);
      }
    }
    const create = of(new Creating(undefined)).create!({ username: 'alice', passwordHash: null });
    await expect(create).rejects.toMatchObject(unavailable);
    expect(logged()).toContain('The user store returned from create() undefined.');
  });

  it.each([undefined, null, 1, { affected: 1 }])(
    '%p from setPasswordHash() or setActive() does not answer',
    async (result) => {
      const users = of(new FixedUsers(result));
      await expect(users.setPasswordHash!('7', 'the-hash')).rejects.toMatchObject(unavailable);
      await expect(users.setActive!('7', false)).rejects.toMatchObject(unavailable);
      expect(logged()).toMatch(
        /returned from setPasswordHash\(\) .*Return true, or false for an unknown user or another/,
      );
      expect(logged()).toMatch(/returned from setActive\(\) .*Return true, or false for an unknown user\./);
      expect(logged()).not.toContain('the-hash');
    },
  );

  it('null, a user without a password, booleans or numbered ids with parseId() is taken at its word', async () => {
    expect(await of(new FixedUsers(null)).findByUsername('alice')).toBeNull();
    const bob = { ...alice, passwordHash: null };
    expect(await of(new FixedUsers(bob)).findById('7')).toBe(bob);
    const carol = { ...alice, id: 7 };
    expect(await of(new NumberedUsers(carol)).findById(7)).toBe(carol);
    expect(await of(new FixedUsers(false)).setActive!('7', true)).toBe(false);
    expect(logged()).toBe('');
  });

  it('a user has it loaded without its password hash by default', async () => {
    const users = of(new FixedUsers({ ...alice, role: 'admin' }));
    expect(await users.load('7')).toEqual({ id: '7', username: 'alice', active: true, role: 'admin' });
    expect(await of(new FixedUsers(null)).load('7')).toBeNull();
  });

  it('a user with accessors has it loaded with id, username and active', async () => {
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
    expect(await of(new FixedUsers(new Row())).load('7')).toEqual({ key: 7, id: '7', username: 'alice', active: true });
  });
});
