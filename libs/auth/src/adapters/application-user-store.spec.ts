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
