import { SessionAdministration, type AuthPrincipal } from 'nestjs-session-auth';
import { PASSWORD, type TestApplication } from '../support/test-application';
import type { Fixture } from './environment';

export const NEW_PASSWORD = 'a password that is new';

/** Prepares an operation, and returns a function that executes it. */
type Prepare = (fixture: Fixture, app: TestApplication) => Promise<() => Promise<unknown>>;

/** An operation that ends the session of a fixture, on one of the instances. */
export interface EndingOperation {
  readonly name: string;
  /** Whether the operation also ends the other session of the user. */
  readonly endsOther: boolean;
  readonly prepare: Prepare;
}

const unprepared =
  (end: (app: TestApplication, fixture: Fixture) => Promise<unknown>): Prepare =>
  async (fixture, app) =>
  () =>
    end(app, fixture);

/** An operation within one of the sessions, as a request that the guard has accepted before. */
const within =
  (which: 'session' | 'other', end: (app: TestApplication, principal: AuthPrincipal) => Promise<unknown>): Prepare =>
  async (fixture, app) => {
    const principal = await fixture.environment.principal(fixture[which].accessToken);
    return () => end(app, principal);
  };

const operations = {
  'a logout': ['one session', within('session', (app, principal) => app.auth.logout(principal))],
  'a logout of all sessions': ['both sessions', within('session', (app, principal) => app.auth.logoutAll(principal))],
  'a deletion by its owner from another session': [
    'one session',
    unprepared((app, { userId, session }) => app.auth.revokeSession(userId, session.sessionId)),
  ],
  'a password change in another session': [
    'one session',
    within('other', (app, principal) =>
      app.auth.changePassword(principal, { currentPassword: PASSWORD, newPassword: NEW_PASSWORD }),
    ),
  ],
  'a password reset': ['both sessions', unprepared((app, { userId }) => app.auth.resetPassword(userId, NEW_PASSWORD))],
  'a password reset by a token': [
    'both sessions',
    async ({ userId }, app) => {
      const { token } = await app.auth.createPasswordResetToken(userId);
      return () => app.auth.redeemPasswordResetToken(token, NEW_PASSWORD);
    },
  ],
  'disabling the user': ['both sessions', unprepared((app, { userId }) => app.auth.disableUser(userId))],
  'the first request after the user was disabled': [
    'both sessions',
    unprepared(async (app, { environment, userId, other }) => {
      await environment.setActive(userId, false);
      return app.auth.authenticate(other.accessToken);
    }),
  ],
  'the reuse of an earlier refresh token': [
    'both sessions',
    unprepared((app, { usedToken }) => app.auth.refresh(usedToken).catch(() => 'refused')),
  ],
  'the end of all sessions of the user by an administrator': [
    'both sessions',
    unprepared((app, { userId }) => app.nest.get(SessionAdministration).end({ userId }, { actor: 'carol' })),
  ],
  // Ends the session under the policy `single`.
  'an eviction by a login': ['both sessions', unprepared((app, { userId }) => app.auth.openSession(userId))],
} satisfies Record<string, readonly [ends: 'one session' | 'both sessions', prepare: Prepare]>;

export type OperationName = keyof typeof operations;

/** Returns the ending operation with the given name. */
export function ending(name: OperationName): EndingOperation {
  const [ends, prepare] = operations[name];
  return { name, endsOther: ends === 'both sessions', prepare };
}

export const LOGOUT = ending('a logout');
export const REUSE = ending('the reuse of an earlier refresh token');
export const EVICTION = ending('an eviction by a login');

/** The operations that end the session under each policy. */
export const ENDING_OPERATIONS = (Object.keys(operations) as OperationName[])
  .filter((name) => name !== EVICTION.name)
  .map(ending);
