import { Logger } from '@nestjs/common';
import { ApplicationCalls } from '../../libs/auth/src/adapters/application-calls';

it('a method of the application that takes five seconds fails with database_unavailable, and the failure is logged', async () => {
  jest.useFakeTimers();
  const error = jest.spyOn(Logger.prototype, 'error').mockImplementation();
  const outcome = jest.fn();
  const calling = new ApplicationCalls('Users', 'user store').call('findById', () => new Promise(() => undefined));
  calling.catch(outcome);
  await jest.advanceTimersByTimeAsync(4_999);
  expect(outcome).not.toHaveBeenCalled();
  await jest.advanceTimersByTimeAsync(1);
  expect(outcome.mock.calls).toMatchObject([
    [{ code: 'database_unavailable', message: 'The user store is unavailable.', retryAfterSeconds: 5 }],
  ]);
  expect(error.mock.calls).toEqual([
    ['The user store failed in findById(): TimeoutError: No answer within 5000 ms', expect.any(String)],
  ]);
  jest.useRealTimers();
});
