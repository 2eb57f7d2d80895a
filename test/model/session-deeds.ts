import type { AuthPrincipal } from 'nestjs-session-auth';
import type { ModelSession } from './state';
import { authenticated, outcome, sessionAt, type Deed, type Place, type Scene } from './step';

/** With any access token that the session ever had; 0 is the newest. */
export const authenticate: Deed<{ back: number }> = async (scene, args) => {
  const { accessTokens } = sessionAt(scene.model, args);
  await authenticated(scene, accessTokens.at(-1 - (args.back % accessTokens.length))!);
};

export const logout: Deed<object> = async (scene, args) => {
  const found = await principalOf(scene, args);
  if (!found) return;
  await scene.auth.logout(found.principal);
  scene.model.end(found.session, 'logout');
};

/** Two requests of one session: the one that comes second ends nothing any more. */
export const logoutTwice: Deed<object> = async (scene, args) => {
  const found = await principalOf(scene, args);
  if (!found) return;
  const { auth, otherAuth, model } = scene;
  await Promise.all([auth.logout(found.principal), otherAuth.logout(found.principal)]);
  model.end(found.session, 'logout');
};

export const logoutAll: Deed<{ keepCurrent: boolean }> = async (scene, args) => {
  const found = await principalOf(scene, args);
  if (!found) return;
  const { keepCurrent } = args;
  const ended = await scene.auth.logoutAll(found.principal, { keepCurrent });
  expect(ended).toBe(scene.model.logoutAll(found.session, keepCurrent));
};

/** A session of the user's own, or of somebody else's. */
export const revoke: Deed<{ by: 'user' | 'admin'; isOwn: boolean }> = async ({ auth, model, user }, args) => {
  const session = sessionAt(model, args);
  const caller = args.isOwn ? session.user : user;
  const real = await outcome(auth.revokeSession(caller.id, session.id, {}, { by: args.by }).then(() => 'revoked'));
  expect(real).toBe(model.revoke(caller, session.id, args.by));
};

export const list: Deed<object> = async ({ auth, model }, args) => {
  const { id, user } = sessionAt(model, args);
  const real = await auth.listSessions(user.id, { currentSessionId: id });
  const newestFirst = model.liveOf(user).sort((a, b) => b.createdAt - a.createdAt);
  const lines = newestFirst.map((one) => [one.id, one.createdAt, one.lastActivity, one.id === id].join(' '));
  const seen = real.map((one) => [one.id, +one.createdAt, +one.lastActivity, one.isCurrent].join(' '));
  expect(seen.sort()).toEqual(lines.sort());
  expect(real.map(({ createdAt }) => +createdAt)).toEqual(newestFirst.map(({ createdAt }) => createdAt));
  expect(real.every(({ state }) => state === 'active')).toBe(true);
  for (const session of model.activeOf(user)) model.notice(session);
};

export const history: Deed<{ limit: number }> = async ({ auth, model, user }, { limit }) => {
  const real = await auth.history(user.id, { limit });
  const events = model.events.filter((event) => event.user === user).sort((a, b) => b.at - a.at);
  expect(real.map(({ timestamp }) => +timestamp)).toEqual(events.slice(0, limit).map(({ at }) => at));
  if (events.length > limit) return;
  // Those of one millisecond are in no order.
  const lines = events.map(({ at, name }) => `${at} ${name}`);
  expect(real.map(({ timestamp, event }) => `${+timestamp} ${event}`).sort()).toEqual(lines.sort());
};

/** Who comes with the newest access token of a session, if the library lets them in. */
export async function principalOf(
  scene: Scene,
  place: Place,
): Promise<{ principal: AuthPrincipal; session: ModelSession } | null> {
  const session = sessionAt(scene.model, place);
  const principal = await authenticated(scene, session.pair.accessToken);
  return principal && { principal, session };
}
