import { SecondFactor, type AuthModuleOptions } from 'nestjs-session-auth';
import { refreshWithCookies } from '../support/cookie-refresh';
import { createDatabase, DATABASES, type Dialect, DIALECTS, type TestDatabase } from '../support/databases';
import { TestApplication, PASSWORD } from '../support/test-application';
import { statementsOf, Tap } from '../support/tap';

class SecondFactorOfAll extends SecondFactor {
  isRequired(): boolean {
    return true;
  }
}

/** Returns the first word of each statement that the work sends. */
async function statementsDuring(tap: Tap, work: () => Promise<unknown>): Promise<string[]> {
  await new Promise(setImmediate);
  const statements: string[] = [];
  tap.hook = {
    before: (call) => void statements.push(...statementsOf(call)),
  };
  await work();
  tap.hook = {};
  return statements;
}

const GRACE = { refreshReuseGraceSeconds: 10 };

/** The limit includes BEGIN and COMMIT, and applies to a login that ends no session and upgrades no hash. */
const MAX_LOGIN_STATEMENTS = 13;

const REFRESH: Readonly<Record<Dialect, string[]>> = {
  postgres: ['WITH'],
  mysql: ['SELECT', 'START', 'UPDATE', 'INSERT', 'COMMIT'],
  sqlite: ['SELECT', 'BEGIN', 'UPDATE', 'INSERT', 'COMMIT'],
};

describe.each(DATABASES)('the number of statements on %s', (name) => {
  let database: TestDatabase;
  let app: TestApplication;
  let tap: Tap;

  beforeAll(async () => {
    database = await createDatabase(name);
    app = await TestApplication.start({ database });
    tap = new Tap(app);
  });
  const others: TestApplication[] = [];
  afterEach(async () => {
    for (const other of others.splice(0)) await other.close();
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  /** Starts another instance, at another time: event ids of one millisecond may collide, which costs a retry. */
  let instances = 0;
  async function start(auth: AuthModuleOptions): Promise<TestApplication> {
    const other = await TestApplication.start({ database, auth, users: [] });
    other.clock.advance(++instances * 60_000);
    others.push(other);
    return other;
  }

  it('a guarded request takes one statement', async () => {
    const { access_token: token } = await app.login();
    expect(await statementsDuring(tap, () => app.auth.authenticate(token))).toEqual(['SELECT']);
  });

  it('a guarded request after a refresh takes one statement without a grace period', async () => {
    const { refresh_token: token } = await app.login();
    const { accessToken } = await app.auth.refresh(token);
    expect(await statementsDuring(tap, () => app.auth.authenticate(accessToken))).toEqual(['SELECT']);
  });

  it('the first guarded request after a refresh takes one more statement within a grace period', async () => {
    const graceful = await start(GRACE);
    const { access_token: opened, refresh_token: token } = await graceful.login();
    const own = new Tap(graceful);
    expect(await statementsDuring(own, () => graceful.auth.authenticate(opened))).toEqual(['SELECT']);
    const { accessToken } = await graceful.auth.refresh(token);
    const authenticate = (): Promise<unknown> => graceful.auth.authenticate(accessToken);
    expect(await statementsDuring(own, authenticate)).toEqual(['SELECT', 'UPDATE']);
    expect(await statementsDuring(own, authenticate)).toEqual(['SELECT']);
  });

  it('the first guarded request after the grace period takes one statement', async () => {
    const graceful = await start(GRACE);
    const { accessToken } = await graceful.auth.refresh((await graceful.login()).refresh_token);
    graceful.clock.advance(10_000);
    const own = new Tap(graceful);
    expect(await statementsDuring(own, () => graceful.auth.authenticate(accessToken))).toEqual(['SELECT']);
  });

  it.each([{}, GRACE])(
    'a refresh takes only the statements of one guarded update, with the options %j',
    async (auth) => {
      const own = await start(auth);
      const { refresh_token: token } = await own.login();
      expect(await statementsDuring(new Tap(own), () => own.auth.refresh(token))).toEqual(REFRESH[DIALECTS[name]]);
    },
  );

  it('a refresh over cookies takes the statements of a bearer refresh, after a read if the request has an access token', async () => {
    const own = await start({ cookies: { mode: 'optional' } });
    const tapped = new Tap(own);
    const { refreshToken } = await own.auth.login({ username: 'alice', password: PASSWORD });
    let pair = await refreshWithCookies(own, { refreshToken, accessToken: null });
    own.clock.advance(20_000);
    const rotate = async (withAccessToken: boolean): Promise<void> => {
      const presented = { refreshToken: pair.refreshToken, accessToken: withAccessToken ? pair.accessToken : null };
      pair = await refreshWithCookies(own, presented);
    };
    expect(await statementsDuring(tapped, () => rotate(false))).toEqual(REFRESH[DIALECTS[name]]);
    own.clock.advance(20_000);
    const afterRead = DIALECTS[name] === 'postgres' ? ['SELECT', ...REFRESH.postgres] : REFRESH[DIALECTS[name]];
    expect(await statementsDuring(tapped, () => rotate(true))).toEqual(afterRead);
    expect(await statementsDuring(tapped, () => rotate(true))).toEqual(['SELECT']);
  });

  it('a login takes at most 13 statements', async () => {
    await app.login();
    const statements = await statementsDuring(tap, () => app.login());
    expect(statements.length).toBeLessThanOrEqual(MAX_LOGIN_STATEMENTS);
    expect(statements).toContain('COMMIT');
  });

  it('a login that needs a second factor takes at most 13 statements', async () => {
    const own = await start({ secondFactor: new SecondFactorOfAll() });
    const login = (): Promise<unknown> => expect(own.login()).rejects.toThrow('second_factor_required');
    const tapped = new Tap(own);
    for (let logins = 0; logins < 2; logins++) {
      expect((await statementsDuring(tapped, login)).length).toBeLessThanOrEqual(MAX_LOGIN_STATEMENTS);
    }
  });

  it('the first login of a user takes at most 13 statements', async () => {
    await app.auth.createUser({ username: 'carol', password: PASSWORD });
    expect((await statementsDuring(tap, () => app.login('carol'))).length).toBeLessThanOrEqual(MAX_LOGIN_STATEMENTS);
  });

  it.each([{ sessionPolicy: 'single' }, { sessionPolicy: 'max_count', maxSessions: 2 }] as const)(
    'a login that ends another session takes at most three additional statements, with the options %j',
    async (auth) => {
      const limited = await start(auth);
      await limited.login();
      await limited.login();
      // The transaction already holds the lock of the user. Additional statements lock, read and mark the sessions.
      const statements = await statementsDuring(new Tap(limited), () => limited.login());
      expect(statements.length).toBeLessThanOrEqual(MAX_LOGIN_STATEMENTS + 3);
      expect(limited.sent('user_logged_out').length).toBeGreaterThan(0);
    },
  );

  it('ending 100 sessions takes at most one more statement than ending one', async () => {
    const end = async (sessions: number): Promise<number> => {
      const { access_token: token } = await app.login();
      for (let i = 1; i < sessions; i++) await app.login();
      const principal = (await app.auth.authenticate(token))!;
      return (await statementsDuring(tap, () => app.auth.logoutAll(principal))).length;
    };
    const forOne = await end(1);
    // Other sessions end for a different reason than the current session, which takes one more statement.
    expect(await end(100)).toBeLessThanOrEqual(forOne + 1);
  });

  it('reuse takes as many statements for 100 sessions as for one', async () => {
    const reuse = async (sessions: number): Promise<number> => {
      const { refresh_token: token } = await app.login();
      for (let i = 1; i < sessions; i++) await app.login();
      await app.auth.refresh(token);
      return (await statementsDuring(tap, () => app.auth.refresh(token).catch(() => undefined))).length;
    };
    expect(await reuse(100)).toBe(await reuse(1));
  });
});
