import type { OpenedSession } from 'nestjs-session-auth';
import type { Host } from '../support/host';
import { PASSWORD } from '../support/host';
import { DAY } from '../support/driven-clock';
import type { RaceStage } from './stage';

/** What a deed finds: a user with two sessions, of which one was refreshed before. */
export interface Scene {
  readonly stage: RaceStage;
  readonly userId: string;
  readonly session: OpenedSession;
  readonly other: OpenedSession;
  /** A refresh token of the session that was used. */
  readonly usedToken: string;
}

/** Something that ends the session, done on one of the instances. */
export interface Deed {
  readonly name: string;
  /** Whether the other session ends with it. */
  readonly endsOther: boolean;
  /** What is made ready before; the deed itself is what is returned. */
  prepare(scene: Scene, host: Host): Promise<() => Promise<unknown>>;
}

export const ENDS: readonly Deed[] = [
  {
    name: 'logout',
    endsOther: false,
    prepare: async ({ stage, session }, host) => {
      const principal = await stage.principal(session.accessToken);
      return () => host.auth.logout(principal);
    },
  },
  {
    name: 'logout of all',
    endsOther: true,
    prepare: async ({ stage, session }, host) => {
      const principal = await stage.principal(session.accessToken);
      return () => host.auth.logoutAll(principal);
    },
  },
  {
    name: 'deletion by its owner from elsewhere',
    endsOther: false,
    prepare:
      async ({ userId, session }, host) =>
      () =>
        host.auth.revokeSession(userId, session.sessionId),
  },
  {
    name: 'change of password in another session',
    endsOther: false,
    prepare: async ({ stage, other }, host) => {
      const principal = await stage.principal(other.accessToken);
      const change = { currentPassword: PASSWORD, newPassword: 'a password that is new' };
      return () => host.auth.changePassword(principal, change);
    },
  },
  {
    name: 'reset of the password',
    endsOther: true,
    prepare:
      async ({ userId }, host) =>
      () =>
        host.auth.resetPassword(userId, 'a password that is new'),
  },
  {
    name: 'reset of the password by a token',
    endsOther: true,
    prepare: async ({ userId }, host) => {
      const { token } = await host.auth.createPasswordResetToken(userId);
      return () => host.auth.redeemPasswordResetToken(token, 'a password that is new');
    },
  },
  {
    name: 'disabling of its user by the service',
    endsOther: true,
    prepare:
      async ({ userId }, host) =>
      () =>
        host.auth.disableUser(userId),
  },
  {
    name: 'disabling of its user, noticed by a request',
    endsOther: true,
    prepare:
      async ({ stage, userId, other }, host) =>
      async () => {
        await stage.setActive(userId, false);
        return host.auth.authenticate(other.accessToken);
      },
  },
  {
    name: 'replay of a used token',
    endsOther: true,
    prepare:
      async ({ usedToken }, host) =>
      () =>
        host.auth.refresh(usedToken).catch(() => 'refused'),
  },
];

/** Under the policy `single`. */
export const EVICTION: Deed = {
  name: 'eviction by a login',
  endsOther: true,
  prepare:
    async ({ userId }, host) =>
    () =>
      host.auth.openSession(userId),
};

/** Clean-up by an instance whose clock is ahead, to which the session looks idle. */
export async function setTheStage(stage: RaceStage): Promise<Scene> {
  const userId = await stage.newUser();
  const other = await stage.open(userId);
  const opened = await stage.open(userId);
  const pair = await stage.hosts[0].auth.refresh(opened.refreshToken);
  return { stage, userId, other, session: { ...opened, ...pair }, usedToken: opened.refreshToken };
}

export const SIX_DAYS = 6 * DAY;
