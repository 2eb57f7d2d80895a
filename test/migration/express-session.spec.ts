import { Controller, Injectable, Post, type Type } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import session, { MemoryStore } from 'express-session';
import { AUTH_ENTITIES, AuthSession, RequireRecentLogin, SecondFactor } from 'nestjs-session-auth';
import { createHmac } from 'node:crypto';
import { restorePassword, describeOnEachDatabase, userIdOf } from '../support/environment';
import { Browser } from '../support/browser';
import { PASSWORD } from '../support/test-application';
import { runMigrationFile } from '../docs/migration-code';

const loaded: Record<string, unknown> = {};
const { MigrationModule } = runMigrationFile<{ MigrationModule: Type }>('migration.module', loaded);
const { TakenOver } = loaded['./taken-over.entity.js'] as { TakenOver: Type<{ opened: string }> };

const SECRET = 'the secret of the old application';
const OLD = 'connect.sid';
const NEW = ['__Host-auth_access', '__Host-auth_refresh'];
const EVIL = { from: 'https://evil.test' } as const;

/** Requires a second factor while a test sets `required`. */
@Injectable()
class Factor extends SecondFactor {
  static required = false;

  isRequired(): boolean {
    return Factor.required;
  }
}

@Controller('payout')
class PayoutController {
  @Post()
  @RequireRecentLogin({ withinSeconds: 300, methods: ['pwd'] })
  payOut(): object {
    return { paid: true };
  }
}

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
    endpoints: { reauthenticate: true },
    history: { maxRowsPerUser: 10 },
    secondFactor: Factor,
  },
  entities: [...AUTH_ENTITIES, TakenOver],
  imports: [MigrationModule],
  controllers: [PayoutController],
  configure: mountOldLogin,
};

describeOnEachDatabase('an application that leaves express-session', options, ({ app }) => {
  let browser: Browser;

  afterEach(() => {
    jest.restoreAllMocks();
    Factor.required = false;
  });

  const oldLogin = async (of: Browser, username = 'alice'): Promise<void> => {
    await of.send(`/old/login?id=${await userIdOf(app, username)}`);
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

  it("a request to the library's own routes takes a former session over, so that the client finds the session", async () => {
    const { body } = await browser.send('/auth/sessions');
    expect(body).toEqual([expect.objectContaining({ is_current: true })]);
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

  it('parallel requests of one page, and a request whose response was lost, get the same session', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => copyOf(browser).send('/me')));
    answers.push(await browser.send('/me'));
    expect(answers.map(({ body }) => body.username)).toEqual(Array(9).fill('alice'));
    expect(new Set(answers.map(({ headers }) => String(headers['set-cookie']))).size).toBe(1);
    expect(await sessions()).toBe(1);
    expect(await me()).toBe('alice');
  });

  it('a parallel request waits for the session that another request is opening', async () => {
    const { auth } = app;
    const open = auth.openSession.bind(auth);
    let proceed: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (proceed = resolve));
    const spy = jest.spyOn(auth, 'openSession').mockImplementationOnce(async (...given) => {
      await held;
      return open(...given);
    });
    const first = me(copyOf(browser));
    while (spy.mock.calls.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const looks = jest.spyOn(app.dataSource.getRepository(TakenOver), 'findOneBy');
    const second = me();
    while (looks.mock.calls.length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
    proceed();
    expect([await first, await second, await sessions()]).toEqual(['alice', 'alice', 1]);
  });

  it('the former session is deleted at the first request after ten seconds', async () => {
    await me();
    expect([await me(), await oldSessions()]).toEqual(['alice', 1]);
    advance(10_000);
    expect([await me(), await oldSessions(), await sessions()]).toEqual(['alice', 0, 1]);
  });

  it('a former session is taken over only once, even if the session store contains it again', async () => {
    const saved = await savedSession();
    const thief = copyOf(browser);
    expect(await me()).toBe('alice');
    advance(10_000);
    expect(await me(thief)).toBe(401);
    await restoreSession(saved);
    expect(await me(thief)).toBe(401);
    expect([await me(), await oldSessions(), await sessions()]).toEqual(['alice', 0, 1]);
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
    void lost.then(() => undefined);
    while (spy.mock.calls.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    advance(10_000);
    expect([await me(), await oldSessions(), await sessions()]).toEqual([401, 0, 0]);
    die(new Error('The process was killed.'));
    await lost;
  });

  it('a cookie with a forged signature is not taken over', async () => {
    const [id] = decodeURIComponent(browser.jar[OLD]!).slice(2).split('.');
    for (const secret of ['a guessed secret', '']) {
      const signature = createHmac('sha256', secret).update(id!).digest('base64').replace(/=+$/, '');
      const forger = new Browser(app);
      forger.put(OLD, encodeURIComponent(`s:${id}.${signature}`));
      expect(await me(forger)).toBe(401);
      forger.put(OLD, id!);
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
    signedIn.put(NEW[0]!, null);
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
    const id = await userIdOf(app);
    await app.auth.disableUser(id);
    expect(await me()).toBe(401);
    await app.auth.enableUser(id);
    expect([await me(), await oldSessions(), await sessions()]).toEqual([401, 0, 0]);
  });

  const signOuts = {
    'a logout of all': () => browser.call('/auth/logout/all', { keep_current: true }),
    'a password change': () =>
      browser.call('/auth/password/change', { current_password: PASSWORD, new_password: 'a new long password' }),
    'the end of all other sessions by the application': async () => {
      const { body, status } = await browser.send('/me');
      await app.auth.endSessions(await app.userId(), { except: body.session_id as string });
      return { status };
    },
  };

  it.each(Object.entries(signOuts))(
    'former sessions of a user on other devices are refused after %s',
    async (_, signOut) => {
      const other = new Browser(app);
      await oldLogin(other);
      expect(await me()).toBe('alice');
      expect((await signOut()).status).toBe(200);
      expect(await me(other)).toBe(401);
      advance(10_000);
      expect([await me(), await oldSessions(), await sessions()]).toEqual(['alice', 0, 1]);
      await restorePassword(app);
    },
  );

  it('former sessions on other devices are refused after a logout of all that found no other session', async () => {
    const other = new Browser(app);
    await oldLogin(other);
    expect(await me()).toBe('alice');
    expect((await browser.call('/auth/logout/all', { keep_current: false })).status).toBe(200);
    expect([await me(other), await sessions()]).toEqual([401, 0]);
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
    Factor.required = true;
    expect([await me(), await oldSessions(), await sessions()]).toEqual([401, 0, 0]);
  });

  it('the end of a single session ends no former session', async () => {
    const { session_id: id } = await app.login();
    await app.auth.revokeSession(await app.userId(), id);
    expect(await me()).toBe('alice');
  });

  it('a refused logout of all ends no former session', async () => {
    const { access_token: token } = await app.login();
    await app.post('/auth/logout/all', token, { keep_current: 'no' }).expect(400);
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
    expect((await browser.call('/payout')).status).toBe(403);
    expect((await browser.call('/auth/reauthenticate', { password: PASSWORD })).status).toBe(200);
    expect((await browser.call('/payout')).status).toBe(201);
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

  const savedSession = (): Promise<[string, session.SessionData]> =>
    new Promise((resolve) => store.all((_, all) => resolve(Object.entries(all!)[0] as [string, session.SessionData])));
  const restoreSession = ([id, data]: [string, session.SessionData]): Promise<void> =>
    new Promise((resolve) => store.set(id, data, () => resolve()));
});
