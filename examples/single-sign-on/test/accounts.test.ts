import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Browser } from './browser.js';
import {
  ALICE,
  browser,
  environment,
  MINUTE,
  passwordBrowser,
  principalOf,
  startForEachTest,
  statusOf,
} from './support.js';

startForEachTest();

describe('an account at the provider', () => {
  const link = async (by: Browser, name: string): Promise<Response> =>
    by.finish(await by.authorize(await by.start('link'), { name }));

  /** Changes the cookie of a login flow into the cookie of a link flow. */
  const changeFlow = (by: Browser, session: string): void => {
    const flow = JSON.parse(Buffer.from(by.cookies.get('sso')!, 'base64url').toString()) as object;
    by.cookies.set('sso', Buffer.from(JSON.stringify({ ...flow, session })).toString('base64url'));
  };

  it('belongs to the user who links it, and signs that user in', async () => {
    const alice = await passwordBrowser();
    assert.equal(await statusOf(link(alice, 'al')), 204);
    assert.equal(await statusOf(link(alice, 'al')), 204);
    await browser.signIn({ name: 'al' });
    assert.equal((await principalOf(browser))?.userId, (await principalOf(alice))?.userId);
  });

  it('gets its own user, even if its email address, verified or not, is the name of another user', async () => {
    const alice = await passwordBrowser({ ...ALICE, username: 'alice@example.com' });
    for (const verified of [false, true]) {
      environment.forge = (claims) => ({ ...claims, email: 'alice@example.com', email_verified: verified });
      const attacker = environment.browser();
      await attacker.signIn({ name: `attacker-${verified}` });
      assert.notEqual((await principalOf(attacker))?.userId, (await principalOf(alice))?.userId);
    }
  });

  it('is not linked to a second user, even if both users link it at the same time', async () => {
    const alice = await passwordBrowser();
    const bob = await passwordBrowser({ ...ALICE, username: 'bob' });
    const statuses = await Promise.all([alice, bob].map((one) => statusOf(link(one, 'shared'))));
    assert.deepEqual(statuses.sort(), [204, 409]);
  });

  it('is not linked to another user after its first login has created a user', async () => {
    await browser.signIn({ name: 'carol' });
    assert.equal(await statusOf(link(await passwordBrowser(), 'carol')), 409);
  });

  it('is not linked without a session, or by a session that did not begin the flow', async () => {
    assert.equal(await statusOf(browser.post('/sso/link')), 401);
    const alice = await passwordBrowser();
    const callback = await alice.authorize(await alice.start('link'), { name: 'al' });
    await alice.post('/auth/login/', ALICE);
    assert.equal(await statusOf(alice.finish(callback)), 403);
  });

  it('is linked only with a recent login, both when the flow begins and when it ends', async () => {
    const alice = await passwordBrowser();
    const callback = await alice.authorize(await alice.start('link'), { name: 'al' });
    environment.clock.advance(5 * MINUTE);
    assert.equal(await statusOf(alice.post('/sso/link')), 403);
    assert.equal(await statusOf(alice.finish(callback)), 403);
  });

  it('is not linked without a recent login, even if a changed cookie turns a login flow into a link flow', async () => {
    const alice = await passwordBrowser();
    environment.clock.advance(5 * MINUTE);
    const callback = await alice.authorize(await alice.start('login'), { name: 'al' });
    const session = (await principalOf(alice))!.sessionId;
    changeFlow(alice, session);
    assert.equal(await statusOf(alice.finish(callback)), 403);
  });

  it('is not linked after a login without credentials at the provider', async () => {
    await browser.signIn({ name: 'bob', amr: 'pwd' });
    assert.equal(await statusOf(browser.post('/sso/link')), 201);
    environment.forge = (claims) => ({ ...claims, auth_time: claims.iat! - 61 });
    await browser.signIn({ name: 'bob', amr: 'pwd' });
    assert.equal(browser.forms.length, 1);
    const response = await browser.post('/sso/link');
    const { code } = (await response.json()) as { code: string };
    assert.deepEqual([response.status, code], [403, 'recent_login_required']);
    environment.forge = (claims) => claims;
    const callback = await browser.authorize(await browser.start(), { name: 'bob' });
    changeFlow(browser, (await principalOf(browser))!.sessionId);
    assert.equal(await statusOf(browser.finish(callback)), 403);
  });

  it('is not linked by a cross-site request', async () => {
    const alice = await passwordBrowser();
    assert.equal(await statusOf(alice.post('/sso/link', {}, 'https://another.example.com')), 403);
  });

  it('is linked only after a new login at the provider', async () => {
    const alice = await passwordBrowser();
    await link(alice, 'al');
    await link(alice, 'al');
    assert.equal(alice.forms.length, 2);
    environment.forge = (claims) => ({ ...claims, auth_time: Math.floor(new Date().getTime() / 1000) - 120 });
    assert.equal(await statusOf(link(alice, 'al')), 400);
  });
});
