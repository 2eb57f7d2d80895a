import { QueryFailedError, QueryRunnerAlreadyReleasedError } from 'typeorm';
import { describeFailure, meaningOf } from '../../libs/auth/src/base/failures';
import { CommitError, failureKind, isConnectionLost, isNotWritable } from '../../libs/auth/src/database/failure';

/** Creates an error with the properties of errors from `pg` and `mysql2`. */
const driverError = (code: string | number, message = 'secret'): Error =>
  Object.assign(new Error(message), typeof code === 'number' ? { errno: code, code: 'ER_SOMETHING' } : { code });

const LOST = 'CONNECTION_LOST. The connection was lost.';
const POOL_TIMEOUT: unknown = expect.stringMatching(/^POOL_TIMEOUT. No connection became free in time\. /);
const READ_ONLY = 'The server is read-only. Connect to the primary.';
const OFFLINE = 'The server is offline, or not an active member of its replication group.';

describe('database errors', () => {
  it.each<[code: string | number, hint: string, kind: string]>([
    ['ECONNRESET', 'The connection was lost.', 'connection_lost'],
    ['57P01', 'The server closed the connection.', 'connection_lost'],
    ['25P04', 'The server closed the connection.', 'connection_lost'],
    [4031, 'The server closed the connection.', 'connection_lost'],
    ['57P03', 'The server is starting or shutting down.', 'not_ready'],
    ['ECONNREFUSED', 'The server cannot be reached.', 'connection_lost'],
    ['TIMEOUT', 'The database did not answer before the deadline.', 'timeout'],
    ['25006', READ_ONLY, 'read_only'],
    [1036, READ_ONLY, 'read_only'],
    [1290, READ_ONLY, 'read_only'],
    [1792, READ_ONLY, 'read_only'],
    [1836, READ_ONLY, 'read_only'],
    [1047, 'The Galera node is not synchronized. Connect to another node.', 'not_ready'],
    [3032, OFFLINE, 'not_ready'],
    [3100, OFFLINE, 'not_ready'],
  ])('an error with code %s is described with a hint and without its message', (code, hint, kind) => {
    const error = driverError(code, code === 1047 ? 'WSREP has not yet prepared' : undefined);
    expect(describeFailure(new QueryFailedError('SELECT', [], error))).toBe(`${code}. ${hint}`);
    const isRefusal = kind === 'read_only' || kind === 'not_ready';
    // A server that accepts no writes may also refuse the COMMIT.
    for (const failure of isRefusal ? [error, new CommitError(error)] : [error]) {
      const kinds = [failureKind(failure), isNotWritable(failure), isConnectionLost(failure)];
      expect(kinds).toEqual([kind, isRefusal, kind === 'connection_lost']);
    }
  });

  it.each<[error: Error, description: unknown, kind: string]>([
    [new Error('Connection terminated unexpectedly'), LOST, 'connection_lost'],
    [new Error('Connection terminated due to connection timeout'), LOST, 'connection_lost'],
    [new Error('Client has encountered a connection error and is not queryable'), LOST, 'connection_lost'],
    [new Error("Can't add new command when connection is in closed state"), LOST, 'connection_lost'],
    [new QueryRunnerAlreadyReleasedError(), LOST, 'connection_lost'],
    [new Error('timeout exceeded when trying to connect'), POOL_TIMEOUT, 'timeout'],
  ])('an error without a code is recognized by its message: %s', (error, description, kind) => {
    expect(describeFailure(error)).toEqual(description);
    expect([isConnectionLost(error), failureKind(error)]).toEqual([kind === 'connection_lost', kind]);
  });

  it('an error with code 1047 means that the server accepts no writes only if it comes from Galera', () => {
    expect(isNotWritable(driverError(1047, 'Unknown command'))).toBe(false);
  });

  it('an error with code 40003 leaves the outcome unknown, like a lost connection', () => {
    expect(isConnectionLost(driverError('40003'))).toBe(true);
  });

  it.each([
    [3101, 'conflict'],
    ['23505', 'duplicate'],
  ])('an error with code %s rolls the transaction back, and means a %s', (code, meaning) => {
    expect([failureKind(driverError(code)), meaningOf(driverError(code))]).toEqual(['rolled_back', meaning]);
  });
});
