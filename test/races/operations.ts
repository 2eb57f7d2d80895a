import type { Host } from '../support/host';
import { PASSWORD } from '../support/host';
import type { Fixture } from './environment';

export const NEW_PASSWORD = 'a password that is new';

/** An operation that ends the session of a fixture, on one of the instances. */
export interface EndingOperation {
  readonly name: string;
  /** Whether the other session ends with it. */
  readonly endsOther: boolean;
  /** Prepares the operation, which is what it returns. */
  prepare(fixture: Fixture, host: Host): Promise<() => Promise<unknown>>;
}

export const LOGOUT: EndingOperation = {
  name: 'a logout',
  endsOther: false,
  prepare: async ({ environment, session }, host) => {
    const principal = await environment.principal(session.accessToken);
    return () => host.auth.logout(principal);
  },
};

export const REUSE: EndingOperation = {
  name: 'the reuse of an earlier refresh token',
  endsOther: true,
  prepare:
    async ({ usedToken }, host) =>
    () =>
      host.auth.refresh(usedToken).catch(() => 'refused'),
};

export const ENDING_OPERATIONS: readonly EndingOperation[] = [
  LOGOUT,
  {
    name: 'a logout of all sessions',
    endsOther: true,
    prepare: async ({ environment, session }, host) => {
      const principal = await environment.principal(session.accessToken);
      return () => host.auth.logoutAll(principal);
    },
  },
  {
    name: 'a deletion by its owner from another session',
    endsOther: false,
    prepare:
      async ({ userId, session }, host) =>
      () =>
        host.auth.revokeSession(userId, session.sessionId),
  },
  {
    name: 'a password change in another session',
    endsOther: false,
    prepare: async ({ environment, other }, host) => {
      const principal = await environment.principal(other.accessToken);
      return () => host.auth.changePassword(principal, { currentPassword: PASSWORD, newPassword: NEW_PASSWORD });
    },
  },
  {
    name: 'a password reset',
    endsOther: true,
    prepare:
      async ({ userId }, host) =>
      () =>
        host.auth.resetPassword(userId, NEW_PASSWORD),
  },
  {
    name: 'a password reset by a token',
    endsOther: true,
    prepare: async ({ userId }, host) => {
      const { token } = await host.auth.createPasswordResetToken(userId);
      return () => host.auth.redeemPasswordResetToken(token, NEW_PASSWORD);
    },
  },
  {
    name: 'the disabling of its user by the service',
    endsOther: true,
    prepare:
      async ({ userId }, host) =>
      () =>
        host.auth.disableUser(userId),
  },
  {
    name: 'the disabling of its user that a request notices',
    endsOther: true,
    prepare:
      async ({ environment, userId, other }, host) =>
      async () => {
        await environment.setActive(userId, false);
        return host.auth.authenticate(other.accessToken);
      },
  },
  REUSE,
];

/** Under the policy `single`. */
export const EVICTION: EndingOperation = {
  name: 'an eviction by a login',
  endsOther: true,
  prepare:
    async ({ userId }, host) =>
    () =>
      host.auth.openSession(userId),
};
