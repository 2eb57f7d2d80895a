import type { TokenPair } from 'nestjs-session-auth';
import { judgeRefresh, refreshed } from './refreshing';
import { outcome, sessionAt, type Deed, type Scene } from './step';

/** With the live token of a session, which may be dead. */
export const refresh: Deed<object> = async (scene, args) => {
  const token = sessionAt(scene.model, args).pair.refreshToken;
  compareRefresh(scene, token, await outcome(scene.auth.refresh(token)));
};

/** With any token that the session had before; 0 is the direct predecessor of the live one. */
export const replay: Deed<{ back: number }> = async (scene, args) => {
  const { retired } = sessionAt(scene.model, args);
  if (retired.length === 0) return;
  const { token } = retired.at(-1 - (args.back % retired.length))!;
  compareRefresh(scene, token, await outcome(scene.auth.refresh(token)));
};

/** Twice the same token at the same time, on one instance or on both. Whichever wins, the model does one after the other. */
export const refreshTwice: Deed<{ isApart: boolean }> = async (scene, args) => {
  const { auth, otherAuth, model, real } = scene;
  const session = sessionAt(model, args);
  const token = session.pair.refreshToken;
  const second = args.isApart ? otherAuth : auth;
  const both = await Promise.all([outcome(auth.refresh(token)), outcome(second.refresh(token))]);
  const [first] = both;
  // What was refused came second. Without rotation neither is, and the access token of the second is the one that lives.
  const isSecond =
    typeof first === 'string' || (!model.options.rotateRefreshTokens && (await real.hasAccess(session.id, first)));
  if (isSecond) both.reverse();
  for (const one of both) compareRefresh(scene, token, one);
};

function compareRefresh({ model }: Scene, token: string, real: TokenPair | string): void {
  const verdict = judgeRefresh(model, token);
  if (verdict.kind === 'refused') return expect(real).toBe('invalid_refresh_token');
  if (verdict.kind === 'same') return expect(real).toEqual(verdict.session.pair);
  expect(real).toEqual({ accessToken: expect.any(String), refreshToken: expect.any(String) });
  const { accessToken, refreshToken } = real as TokenPair;
  expect(refreshToken === token).toBe(!model.options.rotateRefreshTokens);
  refreshed(model, verdict.session, { accessToken, refreshToken });
}
