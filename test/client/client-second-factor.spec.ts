import { Body, Controller, HttpCode, Post, Query, Req, Res, UnprocessableEntityException } from '@nestjs/common';
import {
  AuthCookies,
  AuthService,
  clientInfoOf,
  Public,
  SecondFactor,
  type AuthRequest,
  type AuthResponse,
  type OpenedSession,
} from 'nestjs-session-auth';
import { ClientError } from 'nestjs-session-auth-client';
import { inspect } from 'node:util';
import { CookieBrowser, type OpenedTab } from '../support/cookie-browser';
import { PASSWORD } from '../support/test-application';
import { describeHttp } from '../support/environment';

const CODE = '123456';

class EveryUser extends SecondFactor {
  isRequired(): boolean {
    return true;
  }
}

/** The application's endpoint for the second step, which returns the tokens or sets them as cookies. */
@Controller()
@Public()
class CodeController {
  constructor(
    private readonly auth: AuthService,
    private readonly cookies: AuthCookies,
  ) {}

  @Post('login/code')
  @HttpCode(200)
  async enter(
    @Body() { ticket, code }: { readonly ticket: string; readonly code: string },
    @Query('transport') transport: string,
    @Req() request: AuthRequest,
    @Res({ passthrough: true }) response: AuthResponse,
  ): Promise<Partial<OpenedSession>> {
    const client = clientInfoOf(request);
    const isRight = await this.auth.attempt({ ticket, method: 'otp' }, client, () => code === CODE);
    if (!isRight) throw new UnprocessableEntityException('Wrong code.');
    const opened = await this.auth.openSession({ ticket }, client);
    if (transport === 'bearer') return opened;
    this.cookies.set(request, response, opened);
    return { sessionId: opened.sessionId };
  }
}

const options = {
  auth: { secondFactor: new EveryUser(), cookies: { mode: 'optional' as const, secure: false } },
  controllers: [CodeController],
};

describe.each(['bearer', 'cookie'] as const)('transport %s', (transport) => {
  describeHttp('the client and second factors', options, (env) => {
    let browser: CookieBrowser;
    let one: OpenedTab;
    let error: ClientError;

    beforeEach(async () => {
      browser = new CookieBrowser(env.app);
      one = browser.open(env.app.url, { transport });
      error = await one.client.login('alice', PASSWORD).then(
        () => Promise.reject(new Error('The login was accepted.')),
        (thrown: ClientError) => thrown,
      );
    });

    const enter = (code: string): Promise<Response> => {
      const url = `${env.app.url}/login/code?transport=${transport}`;
      const headers = { 'Content-Type': 'application/json' };
      const request = { method: 'POST', headers, body: JSON.stringify({ ticket: error.loginTicket, code }) };
      return transport === 'cookie' ? one.client.fetch(url, request) : fetch(url, request);
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
      expect([(await enter('000000')).status, await one.client.isSignedIn(), browser.jar.size]).toEqual([
        422,
        false,
        0,
      ]);
      const opened = (await (await enter(CODE)).json()) as OpenedSession;
      if (transport === 'bearer') await one.client.adopt(opened);
      expect(await one.client.isSignedIn()).toBe(true);
      expect(await me()).toMatchObject({ username: 'alice' });
      expect(browser.jar.size).toBe(transport === 'cookie' ? 2 : 0);
      await one.client.refresh();
      expect(await me()).toMatchObject({ username: 'alice' });
      await one.client.logout();
      expect(one.ends).toEqual([{ sessionId: opened.sessionId, reason: 'signedOut' }]);
      if (transport === 'cookie') expect(browser.bodies.join()).not.toMatch(/nsa[ar]_/);
    });

    if (transport === 'bearer') return;
    it('a page on another origin cannot open a session in cookie mode, even with a valid login ticket', async () => {
      browser.origin = 'https://evil.test';
      expect([(await enter(CODE)).status, browser.jar.size]).toEqual([403, 0]);
    });
  });
});
