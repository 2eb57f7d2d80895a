import { Body, Controller, HttpCode, Post, Req, Res, UnprocessableEntityException } from '@nestjs/common';
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
import { describeOnBothPlatforms, type TestEnvironment } from '../support/environment';

const CODE = '123456';

class EveryUser extends SecondFactor {
  isRequired(): boolean {
    return true;
  }
}

interface SecondStep {
  readonly ticket: string;
  readonly code: string;
}

/** The application's endpoints for the second step: with tokens in the body, and with cookies. */
@Controller()
@Public()
class CodeController {
  constructor(
    private readonly auth: AuthService,
    private readonly cookies: AuthCookies,
  ) {}

  @Post('login/code')
  @HttpCode(200)
  withTokens(@Body() step: SecondStep, @Req() request: AuthRequest): Promise<OpenedSession> {
    return this.open(step, request);
  }

  @Post('login/code/cookies')
  @HttpCode(200)
  async withCookies(
    @Body() step: SecondStep,
    @Req() request: AuthRequest,
    @Res({ passthrough: true }) response: AuthResponse,
  ): Promise<object> {
    const opened = await this.open(step, request);
    this.cookies.set(request, response, opened);
    return { sessionId: opened.sessionId };
  }

  private async open({ ticket, code }: SecondStep, request: AuthRequest): Promise<OpenedSession> {
    const client = clientInfoOf(request);
    const isRight = await this.auth.attempt({ ticket, method: 'otp' }, client, () => code === CODE);
    if (!isRight) throw new UnprocessableEntityException('Wrong code.');
    return this.auth.openSession({ ticket }, client);
  }
}

const options = {
  auth: { secondFactor: new EveryUser(), cookies: { mode: 'optional' as const, secure: false } },
  controllers: [CodeController],
};

describeOnBothPlatforms('the client and second factors', options, (env: TestEnvironment) => {
  const firstStep = async ({ client }: OpenedTab): Promise<ClientError> => {
    const error: unknown = await client.login('alice', PASSWORD).catch((thrown: unknown) => thrown);
    if (!(error instanceof ClientError)) throw new Error('The login was accepted.');
    return error;
  };
  const nameOf = async ({ client }: OpenedTab): Promise<unknown> => {
    const answer = await client.fetch('/me');
    return ((await answer.json()) as { username?: string }).username;
  };
  const stepOf = (ticket: string | null, code: string): RequestInit => ({
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ ticket, code }),
  });

  it('the client receives a login ticket from the login, and no log of the error contains the ticket', async () => {
    const error = await firstStep(new CookieBrowser(env.app).open(env.app.url, { transport: 'bearer' }));
    expect(error).toMatchObject({
      code: 'second_factor_required',
      status: 403,
      detail: 'A second factor is required.',
    });
    expect(error.loginTicket).toMatch(/^nsal_/);
    expect(inspect(error) + JSON.stringify(error) + String(error)).not.toContain('nsal_');
  });

  it('other errors of the client contain no login ticket', async () => {
    const { client } = new CookieBrowser(env.app).open(env.app.url);
    await expect(client.login('alice', 'wrong')).rejects.toMatchObject({ loginTicket: null });
  });

  it('the client with bearer tokens adopts the session that the second step returns', async () => {
    const browser = new CookieBrowser(env.app);
    const one = browser.open(env.app.url, { transport: 'bearer' });
    const { loginTicket } = await firstStep(one);
    const wrong = await fetch(`${env.app.url}/login/code`, stepOf(loginTicket, '000000'));
    expect([wrong.status, await one.client.isSignedIn()]).toEqual([422, false]);
    const right = await fetch(`${env.app.url}/login/code`, stepOf(loginTicket, CODE));
    await one.client.adopt((await right.json()) as OpenedSession);
    expect([await nameOf(one), browser.jar.size]).toEqual(['alice', 0]);
    await one.client.refresh();
    expect(await nameOf(one)).toBe('alice');
  });

  it('the client with cookies finds the session whose cookies the second step sets', async () => {
    const browser = new CookieBrowser(env.app);
    const one = browser.open(env.app.url);
    const { loginTicket } = await firstStep(one);
    expect(browser.jar.size).toBe(0);
    const wrong = await one.client.fetch('/login/code/cookies', stepOf(loginTicket, '000000'));
    expect([wrong.status, await one.client.isSignedIn()]).toEqual([422, false]);
    const right = await one.client.fetch('/login/code/cookies', stepOf(loginTicket, CODE));
    const { sessionId } = (await right.json()) as { sessionId: string };
    expect(await one.client.isSignedIn()).toBe(true);
    expect([await nameOf(one), browser.jar.size]).toEqual(['alice', 2]);
    await one.client.refresh();
    expect(await nameOf(one)).toBe('alice');
    await one.client.logout();
    expect(one.ends).toEqual([{ sessionId, reason: 'signedOut' }]);
    expect(browser.bodies.join()).not.toMatch(/nsa[ar]_/);
  });

  it('a page on another origin cannot open a session in cookie mode, even with a valid login ticket', async () => {
    const browser = new CookieBrowser(env.app);
    const one = browser.open(env.app.url);
    const { loginTicket } = await firstStep(one);
    browser.origin = 'https://evil.test';
    const refused = await one.client.fetch('/login/code/cookies', stepOf(loginTicket, CODE));
    expect([refused.status, browser.jar.size]).toEqual([403, 0]);
  });
});
