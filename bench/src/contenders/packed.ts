import { AuthService, type PasswordHasher } from 'nestjs-session-auth';
import { CheapPasswordHasher } from 'nestjs-session-auth/testing';
import { timesAsync, type MakeContender } from './contender';
import { make as makeGuard } from './guard';

export const PASSWORD = 'correct horse battery staple';

/** The name of a user who never fails to log in. There are as many as sessions. */
export function usernameOf(index: number): string {
  return `user ${index}`;
}

/** The name of a user whose logins all fail. */
export function failingUsernameOf(index: number): string {
  return `failing user ${index}`;
}

/**
 * The library for comparisons of its versions, so only its public exports are used. Users have passwords, and a cheap
 * hasher, because the time of bcrypt would hide that of the library. Failed logins are counted and never refused:
 * `throttleFrom: false` would skip a part of the work.
 */
export const make: MakeContender = async (setup) => {
  const options = {
    pruneIntervalSeconds: false,
    passwordHasher: cheapHasher(),
    failedLogins: { throttleFrom: 1_000_000, accountBlock: false },
    ...setup.options,
  };
  return {
    ...(await makeGuard({ ...setup, options })),
    credentials(app) {
      const auth = app.get(AuthService);
      return timesAsync(setup.sessions, async (index) => {
        const user = await auth.createUser({ username: usernameOf(index), password: PASSWORD });
        await auth.createUser({ username: failingUsernameOf(index), password: PASSWORD });
        const { accessToken } = await auth.openSession(user);
        return { authorization: `Bearer ${accessToken}` };
      });
    },
  };
};

/** The application otherwise runs as in production, where this hasher is refused. */
function cheapHasher(): PasswordHasher {
  const environment = process.env['NODE_ENV'];
  process.env['NODE_ENV'] = 'test';
  try {
    return new CheapPasswordHasher();
  } finally {
    process.env['NODE_ENV'] = environment;
  }
}
