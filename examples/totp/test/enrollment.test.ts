import { AuthLoginFailure, AuthService } from 'nestjs-session-auth';
import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { EntityManager } from 'typeorm';
import { Authenticator, FactorToken } from '../src/entities.js';
import { SecondFactors } from '../src/second-factors.service.js';
import {
  app,
  codeOf,
  deviceOf,
  enable,
  get,
  login,
  nextStep,
  PASSWORD,
  post,
  secretOf,
  ticketOf,
  trust,
  username,
  withCode,
  wrongCode,
  type Answer,
} from './support.js';

describe('enrollment', () => {
  it('takes effect when a code confirms the secret', async () => {
    const { body: session } = await login(username);
    const { status, body } = await post('/second-factor/enroll', {}, session.accessToken);
    assert.equal(status, 200);
    assert.match(body.uri, /^otpauth:\/\/totp\/Example:alice\d+\?secret=[A-Z2-7]{32}&issuer=Example$/);
    assert.match(body.qrCode, /^data:image\/png;base64,/);
    assert.equal((await login(username)).status, 200, 'an unconfirmed enrollment does not require a code at login');
    const code = await wrongCode(secretOf(body.uri));
    assert.equal((await post('/second-factor/confirm', { code }, session.accessToken)).status, 422);
    assert.equal((await login(username)).status, 200);
    const right = { code: await codeOf(secretOf(body.uri)) };
    const confirmed = await post('/second-factor/confirm', right, session.accessToken);
    assert.equal(confirmed.status, 200);
    assert.equal(new Set(confirmed.body.recoveryCodes).size, 10);
    assert.equal((await login(username)).status, 403);
    nextStep();
    const opened = await withCode(await ticketOf(username), await codeOf(secretOf(body.uri)));
    assert.equal(opened.status, 200);
    assert.equal((await get('/auth/sessions', opened.body.accessToken)).status, 200);
  });

  it('counts codes of the wrong length as one-time codes, so that the right code ends the failure streak', async () => {
    const { body: session } = await login(username);
    const { body: enrollment } = await post('/second-factor/enroll', {}, session.accessToken);
    const countRows = (): Promise<number> => app.get(EntityManager).countBy(AuthLoginFailure, { method: 'otp' });
    const rows = await countRows();
    const confirm = async (code: string): Promise<number> =>
      (await post('/second-factor/confirm', { code }, session.accessToken)).status;
    for (const code of ['', '12345', '123 456', '1234567']) assert.equal(await confirm(code), 422);
    assert.ok((await countRows()) > rows);
    assert.equal(await confirm(await codeOf(secretOf(enrollment.uri))), 200);
    assert.equal(await countRows(), rows);
  });

  it('sends tokens, secrets and recovery codes with Cache-Control: no-store', async () => {
    const session = await login(username);
    const enrollment = await post('/second-factor/enroll', {}, session.body.accessToken);
    const code = await codeOf(secretOf(enrollment.body.uri));
    const confirmed = await post('/second-factor/confirm', { code }, session.body.accessToken);
    nextStep();
    const opened = await withCode(await ticketOf(username), await codeOf(secretOf(enrollment.body.uri)));
    for (const { cacheControl } of [session, enrollment, confirmed, opened]) assert.equal(cacheControl, 'no-store');
  });

  it('can start again with another secret until a secret is confirmed', async () => {
    const { body: session } = await login(username);
    const first = await post('/second-factor/enroll', {}, session.accessToken);
    const second = await post('/second-factor/enroll', {}, session.accessToken);
    const confirm = async ({ body }: Answer): Promise<number> => {
      const code = await codeOf(secretOf(body.uri));
      return (await post('/second-factor/confirm', { code }, session.accessToken)).status;
    };
    assert.equal(await confirm(first), 422);
    assert.equal(await confirm(second), 200);
  });

  it('ends the other sessions, and revokes the earlier tokens of the current session', async () => {
    const { body: before } = await login(username);
    const { body: current } = await login(username);
    const { body: enrollment } = await post('/second-factor/enroll', {}, current['accessToken']);
    const code = await codeOf(secretOf(enrollment['uri']));
    const { body: tokens } = await post('/second-factor/confirm', { code }, current['accessToken']);
    assert.equal((await get('/auth/sessions', before['accessToken'])).status, 401);
    assert.equal((await post('/auth/token/refresh', { refresh_token: before['refreshToken'] })).status, 400);
    assert.equal((await get('/auth/sessions', current['accessToken'])).status, 401);
    assert.equal((await get('/auth/sessions', tokens.accessToken)).body.length, 1);
  });

  it('requires a session and a recent login to begin, and a recent login to confirm', async () => {
    assert.equal((await post('/second-factor/enroll', {})).status, 401);
    const { body: session } = await login(username);
    const { body: enrollment } = await post('/second-factor/enroll', {}, session.accessToken);
    mock.timers.tick(300_000);
    const refused = await post('/second-factor/enroll', {}, session.accessToken);
    assert.deepEqual([refused.status, refused.body.code], [403, 'recent_login_required']);
    const code = await codeOf(secretOf(enrollment['uri']));
    assert.equal((await post('/second-factor/confirm', { code }, session.accessToken)).status, 403);
    const { body: renewed } = await post('/auth/reauthenticate', { password: PASSWORD }, session.accessToken);
    assert.equal((await post('/second-factor/enroll', {}, renewed.access_token)).status, 200);
  });

  it('never replaces a confirmed secret, even after a recent login', async () => {
    const { secret, tokens, recoveryCodes } = await enable(username);
    assert.equal((await post('/second-factor/enroll', {}, tokens.accessToken)).status, 409);
    for (const code of [await codeOf(secret), recoveryCodes[0]]) {
      assert.equal((await post('/second-factor/confirm', { code }, tokens.accessToken)).status, 422);
    }
    assert.equal((await withCode(await ticketOf(username), await codeOf(secret))).status, 200);
  });

  it('stores only digests of recovery codes and device tokens', async () => {
    const { secret, recoveryCodes } = await enable(username);
    const device = deviceOf(await trust(username, secret)).split('=')[1]!;
    const stored = JSON.stringify(await app.get(EntityManager).find(FactorToken));
    for (const token of [...recoveryCodes, device]) assert.equal(stored.includes(token), false);
  });
});

describe('new recovery codes', () => {
  const renew = (token: string, code?: string): Promise<Answer> =>
    post('/second-factor/recovery-codes', { code }, token);

  it('replace the recovery codes of a confirmation whose response was lost', async () => {
    const { secret, recoveryCodes } = await enable(username);
    const { body: session } = await withCode(await ticketOf(username), await codeOf(secret));
    nextStep();
    const { status, body, cacheControl } = await renew(session.accessToken, await codeOf(secret));
    assert.deepEqual([status, cacheControl, new Set(body.recoveryCodes).size], [200, 'no-store', 10]);
    assert.equal((await withCode(await ticketOf(username), recoveryCodes[0])).status, 422);
    assert.equal((await withCode(await ticketOf(username), body.recoveryCodes[0])).status, 200);
  });

  it('require a recent login with a one-time code', async () => {
    const { secret, recoveryCodes } = await enable(username);
    const { body: recovered } = await withCode(await ticketOf(username), recoveryCodes[0]);
    const { body: session } = await withCode(await ticketOf(username), await codeOf(secret));
    mock.timers.tick(300_000);
    const { body: renewed } = await post('/auth/reauthenticate', { password: PASSWORD }, session.accessToken);
    for (const token of [recovered.accessToken, renewed.access_token]) {
      const { status, body } = await renew(token, await codeOf(secret));
      assert.deepEqual([status, body.code], [403, 'recent_login_required']);
    }
    assert.equal((await withCode(await ticketOf(username), recoveryCodes[1])).status, 200);
  });

  it('require a code of the authenticator in the request, so that a stolen session cannot disable the factor', async () => {
    const { secret, recoveryCodes } = await enable(username);
    const code = await codeOf(secret);
    const { body: stolen } = await withCode(await ticketOf(username), code);
    for (const known of [undefined, code, await wrongCode(secret), recoveryCodes[0]]) {
      const { status, body } = await renew(stolen.accessToken, known);
      assert.deepEqual([status, body.recoveryCodes], [422, undefined]);
    }
    assert.equal((await login(username)).status, 403);
    assert.equal((await withCode(await ticketOf(username), recoveryCodes[0])).status, 200);
  });
});

describe('a code within a session', () => {
  const verify = (token?: string, code?: string): Promise<Answer> => post('/second-factor/verify', { code }, token);

  it('opens routes that require a recent code, and replaces the tokens', async () => {
    const { secret, tokens } = await enable(username);
    mock.timers.tick(300_000);
    const refused = await post('/second-factor/recovery-codes', { code: await codeOf(secret) }, tokens.accessToken);
    assert.deepEqual([refused.status, refused.body.code], [403, 'recent_login_required']);
    const { status, body, cacheControl } = await verify(tokens.accessToken, await codeOf(secret));
    assert.deepEqual([status, cacheControl], [200, 'no-store']);
    assert.equal((await get('/auth/sessions', tokens.accessToken)).status, 401);
    nextStep();
    const code = await codeOf(secret);
    assert.equal((await post('/second-factor/recovery-codes', { code }, body.accessToken)).status, 200);
  });

  it('requires a session and a right one-time code', async () => {
    const { secret, tokens, recoveryCodes } = await enable(username);
    assert.equal((await verify(undefined, await codeOf(secret))).status, 401);
    for (const code of [undefined, await wrongCode(secret), recoveryCodes[0]]) {
      assert.equal((await verify(tokens.accessToken, code)).status, 422);
    }
  });
});

describe('disabling', () => {
  it('requires a code of the authenticator or a recovery code, even after a login with a code', async () => {
    const { secret, tokens, recoveryCodes } = await enable(username);
    const disable = (code: unknown): Promise<Answer> => post('/second-factor/disable', { code }, tokens.accessToken);
    assert.equal((await disable(undefined)).status, 422);
    assert.equal((await disable(await wrongCode(secret))).status, 422);
    assert.equal((await login(username)).status, 403);
    assert.equal((await disable(recoveryCodes[0])).status, 200);
    assert.equal((await login(username)).status, 200);
    const database = app.get(EntityManager);
    const { userId } = (await app.get(AuthService).authenticate(tokens.accessToken))!;
    assert.equal(await database.countBy(Authenticator, { userId: String(userId) }), 0);
    assert.equal(await database.countBy(FactorToken, { userId: String(userId) }), 0);
  });

  it('invalidates recovery codes that are stored at the same time', async () => {
    const { secret, tokens } = await enable(username);
    const { userId } = (await app.get(AuthService).authenticate(tokens.accessToken))!;
    const disable = (code?: string): Promise<Answer> => post('/second-factor/disable', { code }, tokens.accessToken);
    assert.equal((await disable(await codeOf(secret))).status, 200);
    const [late] = await app.get(SecondFactors).createTokens(String(userId), 'recovery', 1);
    assert.equal((await disable(late)).status, 422);
    nextStep();
    await enable(username);
    assert.equal((await withCode(await ticketOf(username), late)).status, 422);
  });

  it('requires a recent login', async () => {
    const { secret, tokens } = await enable(username);
    mock.timers.tick(300_000);
    const refused = await post('/second-factor/disable', { code: await codeOf(secret) }, tokens.accessToken);
    assert.deepEqual([refused.status, refused.body.code], [403, 'recent_login_required']);
  });

  it('is throttled after the tenth wrong code in a session', async () => {
    const { secret, tokens } = await enable(username);
    const code = await wrongCode(secret);
    const disable = (text: string): Promise<Answer> =>
      post('/second-factor/disable', { code: text }, tokens.accessToken);
    for (let i = 0; i < 10; i += 1) assert.equal((await disable(code)).status, 422);
    assert.equal((await disable(await codeOf(secret))).status, 429);
  });
});
