import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import type { Browser } from './browser.js';
import { ALICE, browser, environment, MINUTE, passwordBrowser, startForEachTest, without } from './support.js';

startForEachTest();

describe('a logout', () => {
  /** Ends the session at the provider, which sends a logout token to the application. */
  const leave = async (by: Browser, url: string): Promise<Response> => {
    const form = await (await by.send(url)).text();
    const xsrf = /name="xsrf" value="(\w+)"/.exec(form)?.[1] ?? '';
    const body = new URLSearchParams({ xsrf, logout: 'yes' });
    return by.send(new URL('/session/end/confirm', url).href, { method: 'POST', body });
  };

  it('at the provider ends the sessions that the provider session opened, and no other sessions', async () => {
    const other = environment.browser();
    for (const one of [browser, other]) await one.signIn({ name: 'bob' });
    await leave(browser, `${environment.issuer}/session/end`);
    assert.equal(await browser.sessions(), null);
    assert.equal((await other.sessions())?.length, 1);
  });

  it('in the application ends the session, and redirects to the provider and back', async () => {
    await browser.signIn({ name: 'bob' });
    const { url } = (await (await browser.post('/sso/logout')).json()) as { url: string };
    assert.equal(browser.cookies.size, 0);
    assert.equal((await leave(browser, url)).headers.get('location'), `${environment.origin}/`);
    const { length } = browser.forms;
    await browser.signIn({ name: 'bob' });
    assert.equal(browser.forms.length, length + 1);
  });

  it('of a session that a password opened does not redirect to the provider', async () => {
    const alice = await passwordBrowser();
    assert.deepEqual(await (await alice.post('/sso/logout')).json(), { url: '/' });
  });

  it('of a subject ends all of its sessions, except those that a password opened', async () => {
    const alice = await passwordBrowser();
    await alice.finish(await alice.authorize(await alice.start('link'), { name: 'al' }));
    const others = [environment.browser(), environment.browser()];
    for (const one of others) await one.signIn({ name: 'al' });
    environment.clock.advance(MINUTE);
    assert.equal(await environment.sendLogout(await environment.sign(environment.logoutClaims('al'))), 200);
    for (const one of others) assert.equal(await one.sessions(), null);
    assert.equal((await alice.sessions())?.length, 1);
  });

  it('of one account does not end the sessions that another account of the user opened', async () => {
    await passwordBrowser();
    const browsers = new Map<string, Browser>();
    for (const name of ['one', 'two']) {
      const alice = environment.browser();
      await alice.post('/auth/login/', ALICE);
      await alice.finish(await alice.authorize(await alice.start('link'), { name }));
      browsers.set(name, environment.browser());
      await browsers.get(name)!.signIn({ name });
    }
    assert.equal(await environment.sendLogout(await environment.sign(environment.logoutClaims('one'))), 200);
    assert.equal(await browsers.get('one')!.sessions(), null);
    assert.equal((await browsers.get('two')!.sessions())?.length, 4);
  });

  it('is accepted for a subject without a user, and for sessions that have expired', async () => {
    assert.equal(await environment.sendLogout(await environment.sign(environment.logoutClaims('nobody'))), 200);
    await browser.signIn({ name: 'bob' });
    environment.clock.advance(31 * 24 * 60 * MINUTE);
    const fresh = environment.browser();
    await fresh.signIn({ name: 'bob' });
    assert.equal(await environment.sendLogout(await environment.sign(environment.logoutClaims('bob'))), 200);
    assert.equal(await fresh.sessions(), null);
  });

  it('is refused unless its token is a valid logout token for this application', async () => {
    await browser.signIn({ name: 'bob' });
    const claims = environment.logoutClaims('bob');
    const early = (claims.iat ?? 0) - 3600;
    const { privateKey } = await generateKeyPair('RS256');
    const forged = {
      'another audience': environment.sign({ ...claims, aud: 'another' }),
      'another issuer': environment.sign({ ...claims, iss: 'https://another.example.com' }),
      'a nonce': environment.sign({ ...claims, nonce: 'x' }),
      'no jti': environment.sign(without(claims, 'jti')),
      'no iat': environment.sign(without(claims, 'iat')),
      'no exp': environment.sign(without(claims, 'exp')),
      'no subject': environment.sign(without(claims, 'sub')),
      'no event': environment.sign(without(claims, 'events')),
      'another event': environment.sign({ ...claims, events: { 'https://another.example.com': {} } }),
      expired: environment.sign({ ...claims, iat: early, exp: early + 120 }),
      old: environment.sign({ ...claims, iat: early }),
      'another key': new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'development' }).sign(privateKey),
      'the client secret as a key': new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256' })
        .sign(new TextEncoder().encode('a secret for tests only')),
      unsigned: Promise.resolve(new UnsecuredJWT(claims).encode()),
      nothing: Promise.resolve(''),
    };
    for (const [name, token] of Object.entries(forged))
      assert.equal(await environment.sendLogout(await token), 400, name);
    assert.equal((await browser.sessions())?.length, 1);
  });

  it('is refused with an ID token in place of a logout token', async () => {
    let idToken = '';
    const { sign } = environment;
    environment.sign = async (claims) => (idToken = await sign.call(environment, claims));
    await browser.signIn({ name: 'bob' });
    assert.equal(await environment.sendLogout(idToken), 400);
    assert.equal((await browser.sessions())?.length, 1);
  });

  it('is refused when its token is sent again', async () => {
    const token = await environment.sign(environment.logoutClaims('bob'));
    await browser.signIn({ name: 'bob' });
    assert.equal(await environment.sendLogout(token), 200);
    await browser.signIn({ name: 'bob' });
    assert.equal(await environment.sendLogout(token), 400);
    assert.equal((await browser.sessions())?.length, 1);
  });
});
