import type { OpenedSession } from 'nestjs-session-auth';
import { ClientError } from 'nestjs-session-auth-client';
import { inspect } from 'node:util';
import { codeOf } from '../docs/run-block';
import { CookieBrowser, type OpenedTab } from '../support/cookie-browser';
import { describeHttp } from '../support/environment';
import { secondFactorIf } from '../support/second-factor';
import { PASSWORD } from '../support/test-application';

class Codes {
  use = (_: string, code: string): Promise<boolean> => Promise.resolve(code === '123456');
}
const code = codeOf('docs/second-factors.md');
const modules = { './codes.js': { Codes }, './login-code.js': code('## The second step') };

describe.each([
  ['bearer', code('## The second step', { modules }, 1)],
  ['cookie', code('### With cookies', { modules })],
] as const)('transport %s', (transport, { CodeController }) => {
  const auth = { secondFactor: secondFactorIf(() => true), cookies: { mode: 'optional', secure: false } } as const;
  const options = { auth, controllers: [CodeController!], providers: [Codes] };
  describeHttp('the client and the second step in docs/second-factors.md', options, ({ app }) => {
    let browser: CookieBrowser;
    let one: OpenedTab;
    let error: ClientError;

    beforeEach(async () => {
      browser = new CookieBrowser(app);
      one = browser.open(app.url, { transport });
      error = await one.client.login('alice', PASSWORD).then(
        () => Promise.reject(new Error('The login was accepted.')),
        (thrown: ClientError) => thrown,
      );
    });

    const enter = (entered: string): Promise<Response> => {
      const body = JSON.stringify({ ticket: error.loginTicket, code: entered });
      const request = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body };
      return (transport === 'cookie' ? one.client.fetch.bind(one.client) : fetch)(`${app.url}/login/code`, request);
    };

    it('the client receives a login ticket from the login, and no log of the error contains the ticket', async () => {
      const detail = 'A second factor is required.';
      expect(error).toBeInstanceOf(ClientError);
      expect(error).toMatchObject({ code: 'second_factor_required', status: 403, detail });
      expect(error.loginTicket).toMatch(/^nsal_/);
      expect(inspect(error) + JSON.stringify(error) + String(error)).not.toContain('nsal_');
      await expect(one.client.login('alice', 'wrong')).rejects.toMatchObject({ loginTicket: null });
    });

    it('the client uses the session that the second step opens', async () => {
      const me = async (): Promise<unknown> => (await one.client.fetch('/me')).json();
      expect((await enter('000000')).status).toBe(422);
      expect([await one.client.isSignedIn(), browser.jar.size]).toEqual([false, 0]);
      const opened = (await (await enter('123456')).json()) as OpenedSession;
      if (transport === 'bearer') await one.client.adopt(opened);
      expect(await one.client.isSignedIn()).toBe(true);
      expect(await me()).toMatchObject({ username: 'alice' });
      expect(browser.jar.size).toBe(transport === 'cookie' ? 2 : 0);
      await one.client.refresh();
      expect(await me()).toMatchObject({ username: 'alice' });
      const { sessionId } = one.client;
      await one.client.logout();
      expect(one.ends).toEqual([{ sessionId, reason: 'signedOut' }]);
      if (transport === 'cookie') expect(browser.bodies.join()).not.toMatch(/nsa[ar]_/);
    });

    if (transport === 'bearer') return;
    it('a page on another origin cannot open a session in cookie mode, even with a valid login ticket', async () => {
      browser.origin = 'https://evil.test';
      // Not even a wrong code is checked, which would cost the user an attempt.
      for (const entered of ['000000', '123456']) expect((await enter(entered)).status).toBe(403);
      expect(browser.jar.size).toBe(0);
    });
  });
});
