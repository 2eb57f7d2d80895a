import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { AuthSession, AuthUser } from 'nestjs-session-auth';
import { EntityManager } from 'typeorm';
import { browser, environment, principalOf, refused, startForEachTest, statusOf } from './support.js';

startForEachTest();

describe('a login at the provider', () => {
  it('opens a session with cookies, for the same user each time', async () => {
    assert.equal(await statusOf(browser.signIn({ name: 'bob' })), 204);
    const other = environment.browser();
    await other.signIn({ name: 'bob' });
    assert.equal((await other.sessions())?.length, 2);
    const carol = environment.browser();
    await carol.signIn({ name: 'carol' });
    assert.equal((await carol.sessions())?.length, 1);
  });

  it('uses the user of a first login that another instance completes at the same time', async () => {
    await browser.signIn({ name: 'bob' });
    const other = environment.browser();
    const callback = await other.authorize(await other.start(), { name: 'bob' });
    // The first look-up runs before the other instance has stored the account.
    const findOneBy = mock.method(EntityManager.prototype, 'findOneBy', () => Promise.resolve(null), { times: 1 });
    assert.equal(await statusOf(other.finish(callback)), 204);
    findOneBy.mock.restore();
    assert.equal((await principalOf(other))?.userId, (await principalOf(browser))?.userId);
    assert.equal(await environment.app.get(EntityManager).count(AuthUser), 1);
  });

  it('uses PKCE, a state and a nonce, which are new each time and stored in an HttpOnly cookie', async () => {
    const response = await browser.post('/sso/login');
    assert.match(
      response.headers.getSetCookie()[0] ?? '',
      /^sso=[\w-]+; Max-Age=600; Path=\/; .*HttpOnly; SameSite=Lax$/,
    );
    const [first, second] = [await browser.start(), await browser.start()].map(({ searchParams }) => searchParams);
    assert.equal(first?.get('code_challenge_method'), 'S256');
    for (const name of ['state', 'nonce', 'code_challenge']) assert.notEqual(first?.get(name), second?.get(name));
  });

  it('records in the session one method for each factor that the provider reports', async () => {
    await browser.signIn({ name: 'bob', amr: 'pwd pin otp hwk geo' });
    assert.deepEqual(Object.keys((await principalOf(browser))!.methods), ['pwd', 'otp']);
  });

  it('records only the method sso if the provider reports no methods, or a login more than a minute ago', async () => {
    const age = { '': 0, 'pwd otp': 61 };
    for (const [amr, seconds] of Object.entries(age)) {
      environment.forge = (claims) => ({ ...claims, auth_time: claims.iat! - seconds });
      const other = environment.browser();
      await other.signIn({ name: 'bob', amr });
      assert.deepEqual(Object.keys((await principalOf(other))!.methods), ['sso']);
    }
    environment.forge = (claims) => ({ ...claims, auth_time: claims.iat! - 60 });
    await browser.signIn({ name: 'bob', amr: 'pwd otp' });
    assert.deepEqual(Object.keys((await principalOf(browser))!.methods), ['pwd', 'otp']);
  });

  it('is refused for a disabled user', async () => {
    await browser.signIn({ name: 'bob' });
    await environment.auth.disableUser((await principalOf(browser))!.userId);
    const again = environment.browser();
    const callback = await again.authorize(await again.start(), { name: 'bob' });
    assert.equal(await refused(again, callback), 404);
  });
});

describe('a user who needs a second factor', () => {
  const enroll = async (name: string): Promise<void> => {
    const first = environment.browser();
    await first.signIn({ name });
    environment.enrolled.add(String((await principalOf(first))!.userId));
  };

  it('gets a login ticket if the provider names fewer than two factors', async () => {
    await enroll('bob');
    for (const amr of ['', 'pwd', 'pwd pin', 'otp hwk', 'mfa']) {
      const response = await environment.browser().signIn({ name: 'bob', amr });
      const { code, login_ticket: ticket } = (await response.json()) as Record<string, string>;
      assert.deepEqual(
        [response.status, code, response.headers.getSetCookie().length],
        [403, 'second_factor_required', 1],
      );
      assert.match(ticket ?? '', /^nsal_/);
    }
  });

  it('gets a session if the provider used two factors', async () => {
    await enroll('bob');
    for (const amr of ['pwd otp', 'pwd hwk mfa']) {
      assert.equal(await statusOf(environment.browser().signIn({ name: 'bob', amr })), 204, amr);
    }
  });

  it('gets a login ticket if the provider used two factors more than a minute ago', async () => {
    await enroll('bob');
    environment.forge = (claims) => ({ ...claims, auth_time: claims.iat! - 61 });
    assert.equal(await statusOf(browser.signIn({ name: 'bob', amr: 'pwd otp' })), 403);
    assert.equal(await browser.sessions(), null);
  });

  it('exchanges the ticket for a session, and a logout at the provider ends that session', async () => {
    await enroll('bob');
    const response = await browser.signIn({ name: 'bob' });
    const { login_ticket: ticket = '' } = (await response.json()) as Record<string, string>;
    await environment.auth.attempt({ ticket, method: 'otp' }, {}, () => true);
    const { accessToken } = await environment.auth.openSession({ ticket });
    assert.equal(await environment.sendLogout(await environment.sign(environment.logoutClaims('bob'))), 200);
    assert.equal(await environment.auth.authenticate(accessToken), null);
  });
});

describe('a callback signs nobody in', () => {
  it("in a browser that did not begin the login, for example through an attacker's link", async () => {
    const attacker = environment.browser();
    const callback = await attacker.authorize(await attacker.start(), { name: 'carol' });
    assert.equal(await refused(browser, callback), 400);
    await browser.start();
    assert.equal(await refused(browser, callback), 400);
  });

  it('with the state of another login, or without one', async () => {
    const [ours, theirs] = [await browser.start(), await environment.browser().start()];
    const callback = await browser.authorize(ours, { name: 'bob' });
    const cookies = new Map(browser.cookies);
    for (const state of [theirs.searchParams.get('state'), null]) {
      for (const [name, value] of cookies) browser.cookies.set(name, value);
      const changed = new URL(callback);
      if (state === null) changed.searchParams.delete('state');
      else changed.searchParams.set('state', state);
      assert.equal(await refused(browser, changed), 400);
    }
  });

  it('when it is sent a second time, with or without a copy of the cookie', async () => {
    const callback = await browser.authorize(await browser.start(), { name: 'bob' });
    const copy = environment.browser();
    for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
    assert.equal(await statusOf(browser.finish(callback)), 204);
    assert.equal(await statusOf(browser.finish(callback)), 400);
    assert.equal(await refused(copy, callback), 400);
  });

  it('with the PKCE verifier or the nonce of another login', async () => {
    for (const name of ['verifier', 'nonce']) {
      const callback = await browser.authorize(await browser.start(), { name: 'bob' });
      const flow = JSON.parse(Buffer.from(browser.cookies.get('sso')!, 'base64url').toString()) as object;
      const changed = JSON.stringify({ ...flow, [name]: 'x'.repeat(43) });
      browser.cookies.set('sso', Buffer.from(changed).toString('base64url'));
      assert.equal(await refused(browser, callback), 400, name);
    }
  });

  it('with an ID token that is unsigned, expired, of an earlier login, or of another client or issuer', async () => {
    const forgeries = {
      aud: { aud: 'another' },
      iss: { iss: 'https://another.example.com' },
      nonce: { nonce: 'another' },
      azp: { aud: ['example', 'another'], azp: 'another' },
      exp: { exp: 1 },
      auth_time: { auth_time: Math.floor(environment.clock.now() / 1000) - 13 * 3600 },
    };
    for (const [name, changes] of Object.entries(forgeries)) {
      environment.forge = (claims) => ({ ...claims, ...changes });
      const callback = await browser.authorize(await browser.start(), { name: 'bob' });
      assert.equal(await refused(browser, callback), 400, name);
    }
    environment.forge = (claims) => claims;
    const { privateKey } = await generateKeyPair('RS256');
    const signers = [
      () => new UnsecuredJWT(last).encode(),
      () => new SignJWT(last).setProtectedHeader({ alg: 'RS256' }).sign(privateKey),
    ];
    let last = {};
    for (const signer of signers) {
      const callback = await browser.authorize(await browser.start(), { name: 'bob' });
      environment.sign = (claims) => Promise.resolve(((last = claims), signer()));
      assert.equal(await refused(browser, callback), 400);
    }
  });

  it('if it comes from another provider (RFC 9207)', async () => {
    for (const iss of ['https://another.example.com', null]) {
      const callback = await browser.authorize(await browser.start(), { name: 'bob' });
      if (iss === null) callback.searchParams.delete('iss');
      else callback.searchParams.set('iss', iss);
      assert.equal(await refused(browser, callback), 400);
    }
  });

  it('if another site sends it', async () => {
    const callback = await browser.authorize(await browser.start(), { name: 'bob' });
    assert.equal(await refused(browser, callback, 'https://another.example.com'), 403);
    assert.equal(await environment.app.get(EntityManager).count(AuthSession), 0);
  });
});

it('another site can neither begin a login nor end one that the browser began', async () => {
  const other = environment.browser();
  const foreign = await other.authorize(await other.start(), { name: 'carol' });
  const callback = await browser.authorize(await browser.start(), { name: 'bob' });
  const response = await browser.post('/sso/login', {}, 'https://another.example.com');
  assert.deepEqual([response.status, response.headers.getSetCookie()], [403, []]);
  assert.equal(await refused(browser, foreign), 400);
  assert.equal(await statusOf(browser.finish(callback)), 204);
});

it('a callback does not redirect to a URL in its parameters', async () => {
  const callback = await browser.authorize(await browser.start(), { name: 'bob' });
  for (const name of ['return_to', 'to', 'next']) callback.searchParams.set(name, 'https://another.example.com');
  const response = await browser.finish(callback);
  assert.deepEqual([response.status, response.headers.get('location'), await response.text()], [204, null, '']);
});
