import type { Type } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import session, { MemoryStore } from 'express-session';
import { AUTH_ENTITIES, AuthSession } from 'nestjs-session-auth';
import { describeOnEachDatabase, restorePassword } from '../support/environment';
import { ACCESS, Browser, REFRESH } from '../support/browser';
import { secondFactorIf } from '../support/second-factor';
import { pending } from '../support/tap';
import { PASSWORD } from '../support/test-application';
import { runMigrationFile } from '../docs/migration-code';

const loaded: Record<string, unknown> = {};
const { MigrationModule } = runMigrationFile<{ MigrationModule: Type }>('migration.module', loaded);
const { TakenOver } = loaded['./taken-over.entity.js'] as { TakenOver: Type<{ opened: string }> };

const SECRET = 'the secret of the old application';
const OLD = 'connect.sid';
const NEW = [ACCESS, REFRESH];
const EVIL = { from: 'https://evil.test' } as const;

let needsSecondFactor = false;
let store: MemoryStore;

/** Mounts the login of the old application on express-session. It stores the user as Passport does. */
function mountOldLogin(app: NestExpressApplication): void {
  store = new MemoryStore();
  app.use(session({ secret: SECRET, store, resave: false, saveUninitialized: false }));
  app.use('/old/login', (request: Request, response: Response, next: NextFunction) => {
    if (typeof request.query['id'] !== 'string') return next();
    Object.assign(request.session, { passport: { user: request.query['id'] } });
    response.end();
  });
}

const options = {
  auth: {
    cookies: { mode: 'optional' as const },
    history: { maxRowsPerUser: 10 },
    secondFactor: secondFactorIf(() => needsSecondFactor),
  },
  entities: [...AUTH_ENTITIES, TakenOver],
  imports: [MigrationModule],
  configure: mountOldLogin,
};

describeOnEachDatabase('an application that leaves express-session', options, ({ app }) => {
  let browser: Browser;

  afterEach(() => {
    jest.restoreAllMocks();
    needsSecondFactor = false;
  });

  const oldLogin = async (of: Browser, username = 'alice'): Promise<void> => {
    await of.send(`/old/login?id=${await app.userId(username)}`);
  };
  const oldSessions = (): Promise<number> =>
    new Promise((resolve) => store.all((_, all) => resolve(Object.keys(all ?? {}).length)));
  const sessions = (): Promise<number> => app.dataSource.getRepository(AuthSession).countBy({ state: 'active' });
  const me = async (of = browser): Promise<string | number> => {
    const { status, body } = await of.send('/me');
    return status === 200 ? (body.username as string) : status;
  };
  /** Another browser with the same old cookie. */
  const copyOf = (one: Browser): Browser => {
    const copy = new Browser(app);
    copy.put(OLD, one.jar[OLD]!);
    return copy;
  };
  const advance = (milliseconds: number): void => {
    const now = Date.now() + milliseconds;
    jest.spyOn(Date, 'now').mockImplementation(() => now);
  };

  beforeEach(async () => {
    await app.dataSource.getRepository(TakenOver).clear();
    await new Promise((resolve) => store.clear(resolve));
    browser = new Browser(app);
    await oldLogin(browser);
    expect([await oldSessions(), await sessions()]).toEqual([1, 0]);
  });

  it('the next request of a user with a former session opens a session of the library and sets its cookies', async () => {
    const first = await browser.send('/me');
    expect([first.status, first.body.username, first.headers['cache-control']]).toEqual([200, 'alice', 'no-store']);
    expect(Object.keys(browser.jar).sort()).toEqual([...NEW, OLD]);
    expect(await sessions()).toBe(1);
    browser.put(OLD, null);
    const next = await browser.send('/me');
    expect(next.body).toEqual(first.body);
    expect((await browser.call('/auth/token/refresh')).status).toBe(200);
    expect(await me()).toBe('alice');
  });

  it('a password change that takes a former session over responds with cookies and without tokens', async () => {
    const change = { current_password: PASSWORD, new_password: 'a new long password' };
    const { status, body } = await browser.send('/auth/password/change', { method: 'POST', body: change });
    expect([status, body]).toEqual([200, {}]);
    expect(await me()).toBe('alice');
    await restorePassword(app);
  });

  it('a request without a former session or with a bearer token takes no session over', async () => {
    const visitor = new Browser(app);
    expect(await me(visitor)).toBe(401);
    const { access_token: token } = await app.login('bob');
    const asBob = await browser.send('/me', { headers: { Authorization: `Bearer ${token}` } });
    expect(asBob.body.username).toBe('bob');
    expect([await oldSessions(), await sessions()]).toEqual([1, 1]);
  });

  it('a parallel request waits for the session that another request is opening, and gets the same cookies', async () => {
    const { promise, resolve } = pending();
    const open = app.auth.openSession.bind(app.auth);
    const opening = jest.spyOn(app.auth, 'openSession').mockImplementationOnce(async (...given) => {
      await promise;
      return open(...given);
    });
    const first = copyOf(browser).send('/me');
    while (opening.mock.calls.length === 0) await new Promise((done) => setTimeout(done, 5));
    const looks = jest.spyOn(app.dataSource.getRepository(TakenOver), 'findOneBy');
    const second = browser.send('/me');
    while (looks.mock.calls.length < 3) await new Promise((done) => setTimeout(done, 5));
    resolve();
    const answers = await Promise.all([first, second]);
    expect(answers.map(({ body }) => body.username as string)).toEqual(['alice', 'alice']);
    expect(answers[0].headers['set-cookie']).toEqual(answers[1].headers['set-cookie']);
    expect(await sessions()).toBe(1);
  });

  it('a former session is taken over only once, even if the session store keeps it', async () => {
    jest.spyOn(store, 'destroy').mockImplementation((_, done) => done?.());
    const thief = copyOf(browser);
    expect(await me()).toBe('alice');
    advance(10_000);
    for (let i = 0; i < 2; i++) expect(await me(thief)).toBe(401);
    expect([await me(), await oldSessions(), await sessions()]).toEqual(['alice', 1, 1]);
  });

  it('the stored takeover contains no token in plain text', async () => {
    await me();
    const tokens = NEW.map((name) => browser.jar[name]!);
    const [row] = await app.dataSource.getRepository(TakenOver).find();
    const stored = JSON.stringify(row) + Buffer.from(row!.opened, 'base64').toString('latin1');
    for (const secret of [...tokens, 'nsa', decodeURIComponent(browser.jar[OLD]!).slice(2, 34)]) {
      expect(stored).not.toContain(secret);
    }
  });

  it('the next request tries again if the session could not be opened', async () => {
    jest.spyOn(app.auth, 'openSession').mockRejectedValueOnce(new Error('The connection was reset.'));
    expect([await me(), await oldSessions(), await sessions()]).toEqual([500, 1, 0]);
    expect(await me()).toBe('alice');
  });

  it('a request waits at most ten seconds for a process that died while opening the session', async () => {
    let die: (error: Error) => void = () => undefined;
    const opening = new Promise<never>((_, reject) => (die = reject));
    const spy = jest.spyOn(app.auth, 'openSession').mockReturnValueOnce(opening);
    const lost = copyOf(browser).send('/me');
    while (spy.mock.calls.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    advance(10_000);
    expect([await me(), await oldSessions(), await sessions()]).toEqual([401, 0, 0]);
    die(new Error('The process was killed.'));
    await lost;
  });

  it('a cookie with a forged signature is not taken over', async () => {
    const [id] = decodeURIComponent(browser.jar[OLD]!).slice(2).split('.');
    const forger = new Browser(app);
    for (const forged of [`s:${id}.${'a'.repeat(43)}`, id!]) {
      forger.put(OLD, encodeURIComponent(forged));
      expect(await me(forger)).toBe(401);
    }
    expect([await oldSessions(), await sessions()]).toEqual([1, 0]);
  });

  it('a former session whose cookie was planted by another host of the site is not taken over', async () => {
    const attacker = new Browser(app);
    await oldLogin(attacker, 'bob');
    browser.setFromSibling(OLD, attacker.jar[OLD]!);
    expect(await me()).toBe(401); // Of two cookies with the same name, neither is taken over.
    const signedIn = new Browser(app);
    await signedIn.call('/auth/login', { username: 'alice', password: PASSWORD });
    signedIn.setFromSibling(OLD, attacker.jar[OLD]!);
    expect(await me(signedIn)).toBe('alice');
    signedIn.put(ACCESS, null);
    expect(await me(signedIn)).toBe(401);
    expect(await me(attacker)).toBe(401);
  });

  it('the former session does not sign its user in again after another user has signed in and out', async () => {
    await browser.call('/auth/login', { username: 'bob', password: PASSWORD });
    expect(await me()).toBe('bob');
    await browser.call('/auth/logout');
    expect([await me(), await oldSessions()]).toEqual([401, 0]);
    await oldLogin(browser);
    await browser.call('/auth/login', { username: 'bob', password: PASSWORD });
    await browser.call('/auth/logout');
    expect([await me(), await oldSessions(), await sessions()]).toEqual([401, 0, 0]);
  });

  it('a logout as the first request ends the former and the new session', async () => {
    expect((await browser.call('/auth/logout')).status).toBe(200);
    expect(Object.keys(browser.jar)).toEqual([OLD]);
    expect(await me()).toBe(401);
    advance(10_000);
    expect([await me(), await oldSessions(), await sessions()]).toEqual([401, 0, 0]);
  });

  it('the former session of a user who was disabled in the meantime ends', async () => {
    const id = await app.userId();
    await app.auth.disableUser(id);
    expect(await me()).toBe(401);
    await app.auth.enableUser(id);
    expect([await me(), await oldSessions(), await sessions()]).toEqual([401, 0, 0]);
  });

  it('former sessions of a user on other devices are refused after a logout of all', async () => {
    const other = new Browser(app);
    await oldLogin(other);
    expect(await me()).toBe('alice');
    expect((await browser.call('/auth/logout/all', { keep_current: true })).status).toBe(200);
    expect(await me(other)).toBe(401);
    advance(10_000);
    expect([await me(), await oldSessions(), await sessions()]).toEqual(['alice', 0, 1]);
  });

  it('former sessions are refused after a password reset, even if pruning has removed its event', async () => {
    const id = await app.userId();
    await app.auth.resetPassword(id, PASSWORD);
    for (let i = 0; i < 10; i++) await app.post('/auth/logout', (await app.login()).access_token).expect(200);
    await app.pruning.prune();
    expect(await app.auth.history(id, { event: 'password_reset' })).toEqual([]);
    expect(await me()).toBe(401);
    expect([await oldSessions(), await sessions()]).toEqual([0, 0]);
  });

  it('a former session is refused if the sessions of its user end during the takeover', async () => {
    const id = await app.userId();
    const open = app.auth.openSession.bind(app.auth);
    jest.spyOn(app.auth, 'openSession').mockImplementationOnce(async (...given) => {
      await app.auth.endSessions(id);
      return open(...given);
    });
    expect([await me(), await sessions()]).toEqual([400, 0]);
    expect([await me(), await oldSessions(), await sessions()]).toEqual([401, 0, 0]);
  });

  it('a former session of a user who needs a second factor is not taken over', async () => {
    needsSecondFactor = true;
    expect([await me(), await oldSessions(), await sessions()]).toEqual([401, 0, 0]);
  });

  it('the end of a single session ends no former session', async () => {
    const { session_id: id } = await app.login();
    await app.auth.revokeSession(await app.userId(), id);
    expect(await me()).toBe('alice');
  });

  it('no former session is taken over from the date in ACCEPTED_UNTIL on', async () => {
    jest.spyOn(Date, 'now').mockImplementation(() => Date.UTC(2027, 5, 30));
    expect([await me(), await oldSessions(), await sessions()]).toEqual([401, 0, 0]);
  });

  it('a request from another origin takes nothing over, and keeps the former session', async () => {
    for (const request of [EVIL, { ...EVIL, method: 'POST' }, { from: 'https://blog.example.com' }] as const) {
      // The cookie of express-session has no SameSite attribute, and old browsers send it from other sites.
      const headers = { Cookie: `${OLD}=${browser.jar[OLD]!}`, 'Sec-Fetch-Dest': 'image' };
      const { status, headers: answered } = await browser.send('/me', { ...request, headers });
      expect([status < 400, answered['set-cookie']]).toEqual([false, undefined]);
    }
    expect([await oldSessions(), await sessions()]).toEqual([1, 0]);
    expect(await me()).toBe('alice');
  });

  it('a page opened by a link on another site reloads itself, and the reload takes the former session over', async () => {
    const headers = { Cookie: `${OLD}=${browser.jar[OLD]!}`, 'Sec-Fetch-Dest': 'document' };
    const page = await browser.send('/me', { ...EVIL, navigates: true, headers });
    expect(page).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } });
    expect(page.headers['set-cookie']).toBeUndefined();
    expect(page.text).toContain('http-equiv="refresh"');
    expect(await sessions()).toBe(0);
    expect(await me()).toBe('alice');
    const next = await browser.send('/me', { ...EVIL, navigates: true, headers: { 'Sec-Fetch-Dest': 'document' } });
    expect(next.body.username).toBe('alice');
  });

  it('a takeover does not count as a recent proof of the password', async () => {
    await me();
    const principal = await app.principal(browser.jar[ACCESS]!);
    expect(() => app.auth.assertRecentLogin(principal, 300, ['pwd'])).toThrow('A recent login is required.');
  });

  describe('with bearer tokens', () => {
    const exchange = (headers: Record<string, string> = {}) =>
      app.http.post('/exchange').set({ Cookie: `${OLD}=${browser.jar[OLD]!}`, ...headers });

    it('a client exchanges the cookie once for a pair of valid tokens', async () => {
      const { body, headers } = await exchange().expect(200);
      expect(headers).toMatchObject({ 'cache-control': 'no-store' });
      expect(headers['set-cookie']).toBeUndefined();
      await app.get('/me', body.accessToken as string).expect(200);
      await app.refresh(body.refreshToken as string).expect(200);
      advance(10_000);
      await exchange().expect(401);
      expect([await oldSessions(), await sessions()]).toEqual([0, 1]);
    });

    it('an exchange is refused for pages of other origins, and accepted for pages of the application', async () => {
      const [evil, own] = [{ Origin: 'https://evil.test' }, { Origin: 'https://api.example.com' }];
      for (const headers of [evil, { ...evil, 'Sec-Fetch-Site': 'cross-site' }, { 'Sec-Fetch-Site': 'same-site' }]) {
        await exchange(headers).expect(403);
      }
      expect([await oldSessions(), await sessions()]).toEqual([1, 0]);
      const { headers } = await exchange({ ...own, 'Sec-Fetch-Site': 'same-origin' }).expect(200);
      expect(headers['set-cookie']).toBeUndefined();
    });
  });
});
