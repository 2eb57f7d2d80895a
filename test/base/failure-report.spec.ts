import { QueryFailedError } from 'typeorm';
import { toFailureReport } from '../../libs/auth/src/base/failures';

describe('the report of a failure', () => {
  it('contains at most five causes of an error that is its own cause', () => {
    const error = new Error('round');
    error.cause = error;
    expect(toFailureReport(error).stack.match(/Caused by/g)).toHaveLength(5);
  });

  it('contains no line breaks from an error message, which could forge log lines', () => {
    const { summary, stack } = toFailureReport(new Error('no user alice\n    at forged\r\n[Nest] LOG\u2028again'));
    expect(summary).toBe('Error: no user alice     at forged [Nest] LOG again');
    expect(stack.split('\n').slice(1).join('\n')).not.toContain('forged');
  });

  it.each([
    ['a TypeORM error', (driverError: Error) => new QueryFailedError('SELECT secret', ['secret'], driverError)],
    ['a driver error', (driverError: Error) => driverError],
    ['the driver error that caused another error', (cause: Error) => new Error('not stored', { cause })],
  ])('contains the code, constraint and table of %s, but not its message', (_, wrap) => {
    const driverError = Object.assign(new Error('duplicate key value: (name)=(secret)'), {
      code: '23505',
      severity: 'ERROR',
      detail: 'Key (name)=(secret) already exists.',
      constraint: 'people_name_key',
      table: 'people',
    });
    const { summary, stack } = toFailureReport(wrap(driverError));
    expect(stack).toContain('23505, constraint people_name_key, table people');
    expect(summary + stack).not.toContain('secret');
  });

  it.each([
    ['a string', 'a string'],
    [undefined, 'undefined was thrown instead of an Error'],
    [{ password: 'secret' }, 'object was thrown instead of an Error'],
  ])('describes the thrown value %j, which is not an Error', (thrown, summary) => {
    expect(toFailureReport(thrown)).toEqual({ summary, stack: summary });
  });
});
