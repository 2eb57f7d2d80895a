import { SessionAdministration } from 'nestjs-session-auth';
import { PASSWORD, type TestApplication } from '../support/test-application';
import type { Fixture } from './environment';

export const NEW_PASSWORD = 'a password that is new';
export const CHANGE = { currentPassword: PASSWORD, newPassword: NEW_PASSWORD };

type End = (app: TestApplication, fixture: Fixture) => Promise<unknown>;

/** An operation that ends the session of a fixture, on one of the instances. */
export interface EndingOperation {
  readonly name: string;
  /** Whether the operation also ends the other session of the user. */
  readonly endsOther: boolean;
  readonly end: End;
}

const operations = {
  'a logout': ['one session', (app, { principal }) => app.auth.logout(principal)],
  'a logout of all sessions': ['both sessions', (app, { principal }) => app.auth.logoutAll(principal)],
  'a deletion by its owner from another session': [
    'one session',
    (app, { userId, session }) => app.auth.revokeSession(userId, session.sessionId),
  ],
  'a password change in another session': [
    'one session',
    (app, { otherPrincipal }) => app.auth.changePassword(otherPrincipal, CHANGE),
  ],
  'a password reset': ['both sessions', (app, { userId }) => app.auth.resetPassword(userId, NEW_PASSWORD)],
  'disabling the user': ['both sessions', (app, { userId }) => app.auth.disableUser(userId)],
  'the first request after the user was disabled': [
    'both sessions',
    async (app, { environment, other }) => {
      await app.setActive(environment.username(), false);
      return app.auth.authenticate(other.accessToken);
    },
  ],
  'the reuse of an earlier refresh token': [
    'both sessions',
    (app, { usedToken }) => app.auth.refresh(usedToken).catch(() => 'refused'),
  ],
  'the end of all sessions of the user by an administrator': [
    'both sessions',
    (app, { userId }) => app.nest.get(SessionAdministration).end({ userId }, { actor: 'carol' }),
  ],
  // Ends the session under the policy `single`.
  'an eviction by a login': ['both sessions', (app, { userId }) => app.auth.openSession(userId)],
} satisfies Record<string, readonly [ends: 'one session' | 'both sessions', end: End]>;

export type OperationName = keyof typeof operations;

/** Returns the ending operation with the given name. */
export function ending(name: OperationName): EndingOperation {
  const [ends, end] = operations[name];
  return { name, endsOther: ends === 'both sessions', end };
}

export const LOGOUT = ending('a logout');
export const REUSE = ending('the reuse of an earlier refresh token');
export const EVICTION = ending('an eviction by a login');

/** The operations that end the session under each policy. */
export const ENDING_OPERATIONS = (Object.keys(operations) as OperationName[])
  .filter((name) => name !== EVICTION.name)
  .map(ending);
