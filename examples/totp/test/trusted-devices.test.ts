import { AuthService } from 'nestjs-session-auth';
import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { EntityManager } from 'typeorm';
import { FactorToken } from '../src/entities.js';
import { SecondFactors } from '../src/second-factors.service.js';
import {
  app,
  codeOf,
  deviceOf,
  enable,
  login,
  nextStep,
  PASSWORD,
  post,
  STEP_MS,
  stranger,
  ticketOf,
  trust,
  username,
  withCode,
  wrongCode,
  type Answer,
  type Tokens,
} from './support.js';

const DAY_MS = 24 * 3_600_000;
const NEW_PASSWORD = 'stapled battery horses correct';

describe('a trusted device', () => {
  it('is not asked for a code for 30 days', async () => {
    const { secret } = await enable(username);
    const answer = await trust(username, secret);
    assert.match(
      answer.cookie,
      /^__Host-device=\w{32}; Max-Age=2592000; Path=\/; Expires=.*; HttpOnly; Secure; SameSite=Strict$/,
    );
    const session = await login(username, `other=1; ${deviceOf(answer)}`);
    assert.equal(session.status, 200);
    const principal = await app.get(AuthService).authenticate(session.body.accessToken);
    assert.deepEqual(Object.keys(principal!.methods), ['pwd'], 'the session does not record the second factor');
    mock.timers.tick(30 * DAY_MS - 2 * STEP_MS);
    assert.equal((await login(username, deviceOf(answer))).status, 200);
    mock.timers.tick(STEP_MS);
    assert.equal((await login(username, deviceOf(answer))).status, 403);
  });

  it('still requires the password', async () => {
    const { secret } = await enable(username);
    const device = deviceOf(await trust(username, secret));
    assert.equal((await login(username, device, 'wrong')).status, 400);
  });

  it('is trusted only if the user asked for trust and entered a correct code', async () => {
    const { secret } = await enable(username);
    assert.equal((await withCode(await ticketOf(username), await codeOf(secret))).cookie, '');
    const failed = await withCode(await ticketOf(username), await wrongCode(secret), true);
    assert.equal(failed.cookie, '');
  });

  it('is not trusted for another user, or with a forged token or a recovery code', async () => {
    const { secret } = await enable(username);
    const device = deviceOf(await trust(username, secret));
    await app.get(AuthService).createUser({ username: stranger, password: PASSWORD });
    const { recoveryCodes } = await enable(stranger);
    const [{ digest }] = (await app.get(EntityManager).findBy(FactorToken, { kind: 'device' })) as [FactorToken];
    for (const token of [device, `__Host-device=${'0'.repeat(32)}`, `__Host-device=${digest}`, '__Host-device=']) {
      assert.equal((await login(stranger, token)).status, 403);
    }
    assert.equal((await login(stranger, `__Host-device=${recoveryCodes[0]}`)).status, 403);
  });

  const endings: Record<string, (tokens: Tokens, secret: string) => Promise<Answer>> = {
    'a password change': ({ accessToken }) =>
      post('/auth/password/change/', { current_password: PASSWORD, new_password: NEW_PASSWORD }, accessToken),
    'the logout of all sessions': ({ accessToken }) => post('/auth/logout/all', {}, accessToken),
    'the logout of all other sessions': ({ accessToken }) =>
      post('/auth/logout/all/', { keep_current: true }, accessToken),
  };
  for (const [name, end] of Object.entries(endings)) {
    it(`is no longer trusted after ${name}`, async () => {
      const { secret } = await enable(username);
      const answer = await trust(username, secret);
      const password = name === 'a password change' ? NEW_PASSWORD : PASSWORD;
      assert.equal((await end(answer.body as Tokens, secret)).status, 200);
      assert.equal((await login(username, deviceOf(answer), password)).status, 403);
    });
  }

  it('is still trusted after a password change or logout of all sessions was refused', async () => {
    const { secret } = await enable(username);
    const answer = await trust(username, secret);
    const change = { current_password: 'wrong', new_password: NEW_PASSWORD };
    assert.equal((await post('/auth/password/change', change, answer.body.accessToken)).status, 400);
    assert.equal((await post('/auth/logout/all', { keep_current: 'no' }, answer.body.accessToken)).status, 400);
    assert.equal((await login(username, deviceOf(answer))).status, 200);
  });

  it('is no longer trusted after reuse of a refresh token', async () => {
    const { secret } = await enable(username);
    const answer = await trust(username, secret);
    const refresh = (): Promise<Answer> =>
      post('/auth/token/refresh', { refresh_token: (answer.body as Tokens).refreshToken });
    assert.deepEqual([(await refresh()).status, (await refresh()).status], [200, 400]);
    assert.equal((await login(username, deviceOf(answer))).status, 403);
  });

  it('is no longer trusted after a password reset', async () => {
    const { secret } = await enable(username);
    const answer = await trust(username, secret);
    const { userId } = (await app.get(AuthService).authenticate(answer.body.accessToken))!;
    const { token } = await app.get(AuthService).createPasswordResetToken(userId);
    await app.get(AuthService).redeemPasswordResetToken(token, NEW_PASSWORD);
    assert.equal((await login(username, deviceOf(answer), NEW_PASSWORD)).status, 403);
  });

  it('is no longer trusted after the application has ended all sessions', async () => {
    const { secret } = await enable(username);
    const answer = await trust(username, secret);
    const { userId } = (await app.get(AuthService).authenticate(answer.body.accessToken))!;
    await app.get(AuthService).endSessions(userId);
    assert.equal((await login(username, deviceOf(answer))).status, 403);
  });

  it('is no longer trusted after the second factor was disabled and enabled again', async () => {
    const { secret } = await enable(username);
    const answer = await trust(username, secret);
    const code = await codeOf(secret);
    assert.equal((await post('/second-factor/disable', { code }, answer.body.accessToken)).status, 200);
    nextStep();
    await enable(username);
    assert.equal((await login(username, deviceOf(answer))).status, 403);
  });

  it('is not trusted after the second factor is enabled again, if its login ran while the factor was disabled', async () => {
    const { secret, tokens, recoveryCodes } = await enable(username);
    const factors = app.get(SecondFactors);
    const createTokens = factors.createTokens.bind(factors);
    const held = mock.method(factors, 'createTokens', async (...args: Parameters<typeof createTokens>) => {
      held.mock.restore();
      await post('/second-factor/disable', { code: recoveryCodes[0] }, tokens.accessToken);
      return createTokens(...args);
    });
    const answer = await trust(username, secret);
    assert.equal((await login(username)).status, 200, 'the second factor is disabled');
    await enable(username);
    assert.equal((await login(username, deviceOf(answer))).status, 403);
  });

  it('is still trusted after a logout', async () => {
    const { secret } = await enable(username);
    const answer = await trust(username, secret);
    assert.equal((await post('/auth/logout', {}, answer.body.accessToken)).status, 200);
    assert.equal((await login(username, deviceOf(answer))).status, 200);
  });
});
