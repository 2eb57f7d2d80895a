import { QueryFailedError, QueryRunnerAlreadyReleasedError } from 'typeorm';
import { describeFailure, meaningOf } from '../../libs/auth/src/base/failures';
import { CommitError, failureKind, isConnectionLost, isNotWritable } from '../../libs/auth/src/database/failure';

/** Creates an error with the properties of errors from `pg` and `mysql2`. */
const driverError = (code: string | number, message = 'secret'): Error =>
  Object.assign(new Error(message), typeof code === 'number' ? { errno: code, code: 'ER_SOMETHING' } : { code });

describe('database errors', () => {
  it.each([
    ['Connection terminated unexpectedly', new Error('Connection terminated unexpectedly')],
    ['Connection terminated due to connection timeout', new Error('Connection terminated due to connection timeout')],
    ['a client that is not queryable', new Error('Client has encountered a connection error and is not queryable')],
    ['a closed connection', new Error("Can't add new command when connection is in closed state")],
    ['a query runner that TypeORM released', new QueryRunnerAlreadyReleasedError()],
  ])('an error without a code is described as a lost connection: %s', (_, error) => {
    expect(describeFailure(error)).toBe('CONNECTION_LOST. The connection was lost.');
    expect(isConnectionLost(error)).toBe(true);
    expect(failureKind(error)).toBe('connection_lost');
  });

  const WSREP = 'WSREP has not yet prepared node for application use';

  it.each([
    ['ECONNRESET', 'The connection was lost.'],
    ['57P01', 'The server closed the connection.'],
    ['25P04', 'The server closed the connection.'],
    [4031, 'The server closed the connection.'],
    ['57P03', 'The server is starting or shutting down.'],
    ['ECONNREFUSED', 'The server cannot be reached.'],
    ['TIMEOUT', 'The database did not answer before the deadline.'],
    ['25006', 'The server is read-only. Connect to the primary.'],
    [1290, 'The server is read-only. Connect to the primary.'],
    [1047, 'The Galera node is not synchronized. Connect to another node.', WSREP],
    [3032, 'The server is offline, or not an active member of its replication group.'],
  ])('an error with code %s is described with a hint and without its message', (code, hint, message = 'secret') => {
    expect(describeFailure(new QueryFailedError('SELECT', [], driverError(code, message)))).toBe(`${code}. ${hint}`);
  });

  it('a transaction that exceeds transaction_timeout loses its connection', () => {
    expect([isConnectionLost(driverError('25P04')), failureKind(driverError('25P04'))]).toEqual([
      true,
      'connection_lost',
    ]);
  });

  it('an exhausted connection pool is reported as a timeout', () => {
    const error = new Error('timeout exceeded when trying to connect');
    expect(describeFailure(error)).toMatch(/^POOL_TIMEOUT. No connection became free in time\. /);
    expect(failureKind(error)).toBe('timeout');
  });

  it.each([
    ['25006', 'read_only'],
    [1036, 'read_only'],
    [1290, 'read_only'],
    [1792, 'read_only'],
    [1836, 'read_only'],
    ['57P03', 'not_ready'],
    [1047, 'not_ready', WSREP],
    [3032, 'not_ready'],
    [3100, 'not_ready'],
  ])(
    'an error with code %s means that the server accepts no writes, even if the error comes from COMMIT',
    (code, kind, message = 'secret') => {
      const error = driverError(code, message);
      for (const failure of [error, new CommitError(error)]) {
        expect(isNotWritable(failure)).toBe(true);
        expect(failureKind(failure)).toBe(kind);
        expect(isConnectionLost(failure)).toBe(false);
      }
    },
  );

  it('an error with code 1047 means that the server accepts no writes only if it comes from Galera', () => {
    expect(isNotWritable(driverError(1047, 'Unknown command'))).toBe(false);
  });

  it('an error with code 40003 leaves the outcome unknown, like a lost connection', () => {
    expect(isConnectionLost(driverError('40003'))).toBe(true);
  });

  it('an error with code 3101 is a conflict within a replication group', () => {
    expect(meaningOf(driverError(3101))).toBe('conflict');
    expect(failureKind(driverError(3101))).toBe('rolled_back');
  });

  it('a unique violation rolls the transaction back, but is not a conflict', () => {
    expect(failureKind(driverError('23505'))).toBe('rolled_back');
    expect(meaningOf(driverError('23505'))).toBe('duplicate');
  });
});
