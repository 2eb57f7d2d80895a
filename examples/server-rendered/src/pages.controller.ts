import { Body, Controller, Get, Post, Query, Req, Res, UseFilters, UseGuards } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AuthCookies, AuthError, AuthService, clientInfoOf, CurrentUser } from 'nestjs-session-auth';
import type { AuthRequest, AuthUser } from 'nestjs-session-auth';
import { setFlash, takeFlash } from './flash.js';
import { markup, sendPage } from './markup.js';
import { PageGuard, ToLogin } from './page.guard.js';

/** The fields of a form. A client can also send lists and objects. */
type Form = Readonly<Record<string, unknown>>;

@Controller()
@UseFilters(ToLogin)
export class PagesController {
  constructor(
    private readonly auth: AuthService,
    private readonly cookies: AuthCookies,
  ) {}

  @Get('login')
  form(@Query('to') to: unknown, @Req() request: Request, @Res() response: Response): void {
    const message = takeFlash(request, response);
    const form = markup`<p role="alert">${message}</p>
      <form method="post" action="/login">
        <input type="hidden" name="to" value="${localPath(to)}" />
        <label>Name <input name="username" autocomplete="username" required /></label>
        <label>Password <input name="password" type="password" autocomplete="current-password" required /></label>
        <button>Sign in</button>
      </form>`;
    sendPage(response, 'Sign in', form);
  }

  @Post('login')
  async login(@Req() request: Request, @Res() response: Response, @Body() form: Form = {}): Promise<void> {
    // Without this check, forms of other sites could count failed logins against the visitor.
    this.cookies.assertSameSite(request);
    const to = localPath(form['to']);
    const credentials = { username: textOf(form['username']), password: textOf(form['password']) };
    try {
      this.cookies.set(request, response, await this.auth.login(credentials, clientInfoOf(request)));
      response.redirect(303, to);
    } catch (error) {
      if (!(error instanceof AuthError)) throw error;
      setFlash(response, error.code);
      response.redirect(303, `/login?${new URLSearchParams({ to }).toString()}`);
    }
  }

  @Get()
  @UseGuards(PageGuard)
  async home(@CurrentUser() user: AuthUser, @Res() response: Response): Promise<void> {
    const sessions = await this.auth.listSessions(user.id);
    const devices = sessions.map(({ createdAt }) => markup`<li>Signed in at ${createdAt.toUTCString()}</li>`);
    const logout = markup`<form method="post" action="/logout"><button>Sign out</button></form>`;
    sendPage(response, `Hello, ${user.username}`, markup`<ul>${devices}</ul>${logout}`);
  }

  @Post('logout')
  @UseGuards(PageGuard)
  async logout(@Req() request: Request & AuthRequest, @Res() response: Response): Promise<void> {
    await this.auth.logout(request.auth!, clientInfoOf(request));
    this.cookies.clear(response);
    setFlash(response, 'signed_out');
    response.redirect(303, '/login');
  }
}

/** Returns `to` if it is a path on this site, and `/` otherwise, so that the login page is not an open redirect. */
function localPath(to: unknown): string {
  // Browsers read `//` and `/\` as the start of another origin, and ignore tabs and line breaks.
  return typeof to === 'string' && /^\/(?!\/)[!-[\]-~]*$/.test(to) ? to : '/';
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
