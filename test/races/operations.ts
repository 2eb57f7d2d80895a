import type { TestApplication } from '../support/test-application';
import { PASSWORD } from '../support/test-application';
import type { Fixture } from './environment';

export const NEW_PASSWORD = 'a password that is new';

/** An operation that ends the session of a fixture, on one of the instances. */
export interface EndingOperation {
  readonly name: string;
  /** Whether the operation also ends the other session of the user. */
  readonly endsOther: boolean;
  /** Prepares the operation, and returns a function that executes it. */
  prepare(fixture: Fixture, app: TestApplication): Promise<() => Promise<unknown>>;
}

export const LOGOUT: EndingOperation = {
  name: 'a logout',
  endsOther: false,
  prepare: async ({ environment, session }, app) => {
    const principal = await environment.principal(session.accessToken);
    return () => app.auth.logout(principal);
  },
};

export const REUSE: EndingOperation = {
  name: 'the reuse of an earlier refresh token',
  endsOther: true,
  prepare:
    async ({ usedToken }, app) =>
    () =>
      app.auth.refresh(usedToken).catch(() => 'refused'),
};

export const ENDING_OPERATIONS: readonly EndingOperation[] = [
  LOGOUT,
  {
    name: 'a logout of all sessions',
    endsOther: true,
    prepare: async ({ environment, session }, app) => {
      const principal = await environment.principal(session.accessToken);
      return () => app.auth.logoutAll(principal);
    },
  },
  {
    name: 'a deletion by its owner from another session',
    endsOther: false,
    prepare:
      async ({ userId, session }, app) =>
      () =>
        app.auth.revokeSession(userId, session.sessionId),
  },
  {
    name: 'a password change in another session',
    endsOther: false,
    prepare: async ({ environment, other }, app) => {
      const principal = await environment.principal(other.accessToken);
      return () => app.auth.changePassword(principal, { currentPassword: PASSWORD, newPassword: NEW_PASSWORD });
    },
  },
  {
    name: 'a password reset',
    endsOther: true,
    prepare:
      async ({ userId }, app) =>
      () =>
        app.auth.resetPassword(userId, NEW_PASSWORD),
  },
  {
    name: 'a password reset by a token',
    endsOther: true,
    prepare: async ({ userId }, app) => {
      const { token } = await app.auth.createPasswordResetToken(userId);
      return () => app.auth.redeemPasswordResetToken(token, NEW_PASSWORD);
    },
  },
  {
    name: 'disabling the user',
    endsOther: true,
    prepare:
      async ({ userId }, app) =>
      () =>
        app.auth.disableUser(userId),
  },
  {
    name: 'the first request after the user was disabled',
    endsOther: true,
    prepare:
      async ({ environment, userId, other }, app) =>
      async () => {
        await environment.setActive(userId, false);
        return app.auth.authenticate(other.accessToken);
      },
  },
  REUSE,
];

/** Ends the session of the fixture under the policy `single`. */
export const EVICTION: EndingOperation = {
  name: 'an eviction by a login',
  endsOther: true,
  prepare:
    async ({ userId }, app) =>
    () =>
      app.auth.openSession(userId),
};
