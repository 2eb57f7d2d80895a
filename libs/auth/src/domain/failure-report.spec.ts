import { QueryFailedError } from 'typeorm';
import { reportFailure } from './failure-report';

describe('the report of a failure', () => {
  it('has name, message, stack and causes', () => {
    const cause = new RangeError('too far', { cause: 'the map is old' });
    const { summary, stack } = reportFailure(new TypeError('no answer', { cause }));
    expect(summary).toBe('TypeError: no answer');
    expect(stack).toMatch(
      /^TypeError: no answer\n +at [^]*\nCaused by: RangeError: too far\n +at [^]*\nCaused by: the map is old$/,
    );
  });

  it('of a cause that is its own cause ends', () => {
    const error = new Error('round');
    error.cause = error;
    expect(reportFailure(error).stack.match(/Caused by/g)).toHaveLength(5);
  });

  it('cannot be forged by what a message quotes', () => {
    const { summary, stack } = reportFailure(new Error('no user alice\n    at forged\r\n[Nest] LOG\u2028again'));
    expect(summary).toBe('Error: no user alice     at forged [Nest] LOG again');
    expect(stack.split('\n').slice(1).join('\n')).not.toContain('forged');
  });

  it.each([
    ['of TypeORM', (driverError: Error) => new QueryFailedError('SELECT secret', ['secret'], driverError)],
    ['of the driver', (driverError: Error) => driverError],
    ['that caused another', (cause: Error) => new Error('not stored', { cause })],
  ])('of an error %s has the code and the names of the schema, and no message', (_, wrap) => {
    const driverError = Object.assign(new Error('duplicate key value: (name)=(secret)'), {
      code: '23505',
      severity: 'ERROR',
      detail: 'Key (name)=(secret) already exists.',
      constraint: 'people_name_key',
      table: 'people',
    });
    const { summary, stack } = reportFailure(wrap(driverError));
    expect(stack).toContain('23505, constraint people_name_key, table people');
    expect(summary + stack).not.toContain('secret');
  });

  it.each([
    ['a text', 'a text'],
    [undefined, 'undefined instead of an Error'],
    [{ password: 'secret' }, 'object instead of an Error'],
  ])('of %j, which is not an Error', (thrown, summary) => {
    expect(reportFailure(thrown)).toEqual({ summary, stack: summary });
  });
});
