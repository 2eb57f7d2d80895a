import { BadRequestException, type INestApplication } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { AuthLoginFailure, AuthService, BcryptPasswordHasher, PasswordHasher } from 'nestjs-session-auth';
import request, { type Response } from 'supertest';
import { DataSource } from 'typeorm';
import { AppModule } from '../../examples/server-rendered/src/app.module';
import { Clock } from '../../libs/auth/src/base/clock';
import { Browser, cookiesIn, type Initiator } from '../support/browser';
import { DAY, DrivenClock, MINUTE } from '../support/driven-clock';
import { PASSWORD, type TestApplication } from '../support/test-application';
import { SQLITE } from '../support/sqlite';

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const TTL = 15 * MINUTE;

describe.each<[string, Initiator]>([
  ['production', 'https://shop.example.com'],
  ['development', 'http://localhost:3000'],
])('the server-rendered example in %s', (environment, origin) => {
  let app: INestApplication;
  let clock: DrivenClock;
  let browser: Browser;

  beforeEach(async () => {
    clock = new DrivenClock();
    const module = await Test.createTestingModule({
      imports: [AppModule.on({ ...SQLITE, database: ':memory:' }, environment === 'production')],
    })
      .overrideProvider(Clock)
      .useValue(clock)
      .overrideProvider(PasswordHasher)
      .useValue(new BcryptPasswordHasher(4))
      .compile();
    app = await module.createNestApplication(new ExpressAdapter()).init();
    await app.get(AuthService).createUser({ username: 'alice', password: PASSWORD });
    browser = new Browser({ http: request(app.getHttpServer()) } as unknown as TestApplication, origin);
  });
  afterEach(() => app.close());

  const open = (path: string, from = origin): Promise<Response> => browser.send(path, { from, navigates: true });
  const submit = (path: string, fields: Record<string, string> = {}, from = origin): Promise<Response> => {
    const body = new URLSearchParams(fields).toString();
    return browser.send(path, { method: 'POST', from, navigates: true, headers: FORM, body });
  };
  const signIn = (fields: Record<string, string> = {}, from = origin): Promise<Response> =>
    submit('/login', { username: 'alice', password: PASSWORD, ...fields }, from);
  const expectRedirect = (response: Response, path: string): void =>
    expect([response.status, response.headers['location']]).toEqual([303, path]);

  it('a page that requires a session redirects to the login form, and the login redirects back', async () => {
    const asked = await open('/?sort=newest');
    expectRedirect(asked, '/login?to=%2F%3Fsort%3Dnewest');
    const form = await open(asked.headers['location'] as string);
    expect(form.text).toContain('name="to" value="/?sort=newest"');
    expect(form.text).not.toContain('<script');
    const signedIn = await signIn({ to: '/?sort=newest' });
    expectRedirect(signedIn, '/?sort=newest');
    const page = await open('/');
    expect(page.status).toBe(200);
    for (const { headers } of [signedIn, page]) expect(headers['cache-control']).toBe('no-store');
    for (const text of ['<li>Signed in at ', 'Hello, alice']) expect(page.text).toContain(text);
  });

  it('the login never redirects to another site', async () => {
    const elsewhere = ['https://evil.test/', '//evil.test', '/\\evil.test', '/\t/evil.test', 'javascript:alert(1)', ''];
    const disguised = ['/\n/evil.test', '/.//evil.test', '/%2F/evil.test', '@evil.test', 'http://here/', '/\\here/'];
    for (const to of [...elsewhere, ...disguised]) {
      const { status, headers } = await signIn({ to });
      const { origin: opened } = new URL(headers['location'] as string, `${origin}/login`);
      expect([to, status, opened]).toEqual([to, 303, origin]);
    }
  });

  it('the error message of a failed login is shown once, and no session is opened', async () => {
    const failed = await signIn({ password: '"><script>alert(1)</script>', to: '/?sort=newest' });
    expectRedirect(failed, '/login?to=%2F%3Fsort%3Dnewest');
    const form = await open(failed.headers['location'] as string);
    expect(form.text).toContain('<p role="alert">Wrong name or password.</p>');
    expect((await open('/login')).text).toContain('<p role="alert"></p>');
    expectRedirect(await open('/'), '/login?to=%2F');
    expectRedirect(await submit('/login', { 'username[]': 'alice' }), '/login?to=%2F');
  });

  it.each(['Call_0900', 'constructor', 'toString', '__proto__'])(
    'the text %s that another host of the site stores in the flash cookie is neither shown nor an error',
    async (text) => {
      browser.setFromSibling('flash', text);
      const page = await open('/login');
      expect(page.status).toBe(200);
      expect(page.text).toContain('<p role="alert">Something went wrong. Try again later.</p>');
    },
  );

  it('markup in a user name is escaped, and the message of an error is sent as text', async () => {
    await app.get(AuthService).createUser({ username: '<b>&"', password: PASSWORD });
    await signIn({ username: '<b>&"' });
    expect((await open('/')).text).toContain('Hello, &#60;b&#62;&#38;&#34;');
    const error = new BadRequestException('<script>alert(1)</script>');
    const login = jest.spyOn(app.get(AuthService), 'login').mockRejectedValue(error);
    for (const [response, status] of [[await signIn(), 400] as const, [await signIn({}, 'null'), 403] as const]) {
      expect(response.status).toBe(status);
      expect(response.headers['content-type']).toMatch(/^text\/plain/);
    }
    login.mockRestore();
  });

  it('an expired access cookie is refreshed for a page that a link on another site opens, and for a form', async () => {
    await signIn();
    clock.advance(TTL);
    const page = await open('/', 'https://search.test');
    expect([page.status, cookiesIn(page).length]).toEqual([200, 2]);
    clock.advance(TTL);
    expectRedirect(await submit('/logout'), '/login');
    expect(Object.keys(browser.jar)).toEqual(['flash']);
  });

  it('an expired session redirects to the login form and loses its cookies, and the logout form ends a session', async () => {
    await signIn();
    clock.advance(8 * DAY);
    expectRedirect(await open('/'), '/login?to=%2F');
    expect(browser.jar).toEqual({});
    await signIn();
    const { jar } = browser;
    expectRedirect(await submit('/logout'), '/login');
    expect((await open('/login')).text).toContain('You are signed out.');
    for (const [name, value] of Object.entries(jar)) browser.put(name, value);
    expectRedirect(await open('/'), '/login?to=%2F');
    expectRedirect(await submit('/logout'), '/login');
  });

  it('forms of other sites count no failed logins against the visitor', async () => {
    for (let i = 0; i < 12; i++) {
      expect((await signIn({ password: 'wrong' }, 'https://evil.test')).status).toBe(403);
    }
    expect(await app.get(DataSource).getRepository(AuthLoginFailure).count()).toBe(0);
    expectRedirect(await signIn(), '/');
  });
});

it.each([
  ['in production, creates no user with its published password', 'production', null, [0, 1]],
  ['in development, creates one user with its published password', 'development', null, [1, 1]],
  ['in production, fails if the user has its published password', 'production', 'stored', [0, 0]],
])('npm start of the server-rendered example, %s', async (_, name, passwordHash, calls) => {
  const createUser = jest.fn(() => Promise.resolve());
  const listen = jest.fn(() => Promise.resolve());
  const findOne = () => Promise.resolve(passwordHash === null ? null : { passwordHash });
  const verify = (password: string, hash: string) => Promise.resolve(password !== '' && hash === 'stored');
  const application = { get: () => ({ createUser, findOne, verify }), listen } as unknown as INestApplication;
  const exit = jest.spyOn(process, 'exit').mockReturnValue(undefined as never);
  jest.spyOn(console, 'error').mockReturnValue();
  jest.replaceProperty(process, 'env', { ...process.env, NODE_ENV: name });
  jest.spyOn(console, 'log').mockReturnValue();
  await jest.isolateModulesAsync(async () => {
    const { NestFactory } = await import('@nestjs/core');
    jest.spyOn(NestFactory, 'create').mockResolvedValue(application);
    await import('../../examples/server-rendered/src/main.js');
  });
  await new Promise(setImmediate);
  expect([createUser.mock.calls.length, listen.mock.calls.length]).toEqual(calls);
  expect(exit).toHaveBeenCalledTimes(calls[1] === 0 ? 1 : 0);
  jest.restoreAllMocks();
});
