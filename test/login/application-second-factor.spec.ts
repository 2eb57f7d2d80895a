import { Logger } from '@nestjs/common';
import { ApplicationSecondFactor, SecondFactor } from '../../libs/auth/src/adapters/second-factor';

class FixedSecondFactor extends SecondFactor {
  constructor(private readonly result: unknown) {
    super();
  }
  isRequired(): Promise<boolean> {
    return this.result as Promise<boolean>;
  }
}

describe('ApplicationSecondFactor', () => {
  const alice = { id: '7', username: 'alice' };
  let error: jest.SpyInstance;

  beforeEach(() => {
    jest.useFakeTimers();
    error = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    error.mockClear();
  });
  afterEach(() => jest.useRealTimers());

  it('fails with database_unavailable if isRequired() takes longer than five seconds', async () => {
    const secondFactor = new ApplicationSecondFactor(new FixedSecondFactor(new Promise(() => undefined)));
    const answer = expect(secondFactor.isRequired(alice, {})).rejects.toMatchObject({
      code: 'database_unavailable',
      message: 'The second factor is unavailable.',
    });
    await jest.advanceTimersByTimeAsync(5_000);
    await answer;
    expect(error).toHaveBeenCalledWith(
      'The second factor failed in isRequired(): TimeoutError: No answer within 5000 ms',
      expect.any(String),
    );
  });

  it('fails with database_unavailable and logs what to return if isRequired() returns no boolean', async () => {
    const secondFactor = new ApplicationSecondFactor(new FixedSecondFactor(Promise.resolve('no')));
    await expect(secondFactor.isRequired(alice, {})).rejects.toMatchObject({ code: 'database_unavailable' });
    expect(error).toHaveBeenCalledWith('isRequired() of the second factor returned a string. Return true or false.');
  });

  it.each([true, false])('returns the boolean %p of isRequired()', async (isRequired) => {
    const secondFactor = new ApplicationSecondFactor(new FixedSecondFactor(isRequired));
    expect(await secondFactor.isRequired(alice, {})).toBe(isRequired);
    expect(error).not.toHaveBeenCalled();
  });
});
