import type { OpenedSession } from 'nestjs-session-auth';
import { principalOf } from './session-deeds';
import { outcome, type Deed, type Scene } from './step';
import { PASSWORDS } from './world';

export const openSession: Deed<object> = async (scene) => {
  const { auth, user } = scene;
  const real = await outcome(auth.openSession(user.id));
  if (user.active) await opened(scene, real);
  else expect(real).toBe('unknown_user');
};

/** With the right password, or with the one that the user has not. */
export const login: Deed<{ isRight: boolean }> = async (scene, { isRight }) => {
  const { auth, model, user } = scene;
  const password = isRight ? user.password : PASSWORDS.find((one) => one !== user.password)!;
  const real = await outcome(auth.login({ username: user.name, password }));
  if (model.isDelayed(user)) {
    expect(real).toBe('too_many_attempts');
  } else if (isRight && user.active) {
    if (await opened(scene, real)) user.failures = null;
  } else {
    expect(real).toBe('invalid_credentials');
    model.loginFailed(user);
  }
};

/** Whether the session policy let it in. */
async function opened({ model, real: world, user }: Scene, real: OpenedSession | string): Promise<boolean> {
  const refusal = model.admit(user, await world.stored());
  if (refusal || typeof real === 'string') {
    expect(real).toBe(refusal);
    return false;
  }
  const { sessionId, accessToken, refreshToken } = real;
  model.opened(user, sessionId, { accessToken, refreshToken });
  return true;
}

export const changePassword: Deed<{ isRight: boolean }> = async (scene, args) => {
  const { auth, model } = scene;
  const found = await principalOf(scene, args);
  if (!found) return;
  const { principal, session } = found;
  const { user } = session;
  const other = PASSWORDS.find((one) => one !== user.password)!;
  const change = { currentPassword: args.isRight ? user.password : other, newPassword: other };
  const real = await outcome(auth.changePassword(principal, change));
  if (model.isDelayed(user)) {
    expect(real).toBe('too_many_attempts');
  } else if (!args.isRight) {
    expect(real).toBe('invalid_field');
    model.loginFailed(user);
  } else {
    model.passwordChanged(session, other, real as Exclude<typeof real, string>);
  }
};

export const resetPassword: Deed<object> = async ({ auth, model, user }) => {
  const password = PASSWORDS.find((one) => one !== user.password)!;
  await auth.resetPassword(user.id, password);
  model.passwordReset(user, password);
};
