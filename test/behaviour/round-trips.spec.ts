import { SecondFactor, type AuthModuleOptions } from 'nestjs-session-auth';
import { CookieSessions } from '../../libs/auth/src/services/sessions/cookie-sessions';
import { createDatabase, DATABASES, type DatabaseName, type TestDatabase } from '../support/databases';
import { Host, PASSWORD } from '../support/host';
import { statementsOf, Tap } from '../support/tap';

class SecondFactorOfAll extends SecondFactor {
  isRequired(): boolean {
    return true;
  }
}

/** The statements to the database while some work is done, by their first word. */
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

/** BEGIN and COMMIT included, where no session ends and no hash is upgraded. */
const MOST_OF_A_LOGIN = 13;

const REFRESH: Readonly<Record<DatabaseName, string[]>> = {
  postgres: ['WITH'],
  mariadb: ['SELECT', 'START', 'UPDATE', 'INSERT', 'COMMIT'],
  sqlite: ['SELECT', 'BEGIN', 'UPDATE', 'INSERT', 'COMMIT'],
};

describe.each(DATABASES)('the statements to %s', (name) => {
  let database: TestDatabase;
  let host: Host;
  let tap: Tap;

  beforeAll(async () => {
    database = await createDatabase(name);
    host = await Host.start({ database });
    tap = new Tap(host);
  });
  const others: Host[] = [];
  afterEach(async () => {
    for (const other of others.splice(0)) await other.close();
  });
  afterAll(async () => {
    await host.close();
    await database.drop();
  });

  /** Another instance, at another time: event ids of one millisecond may collide, which costs a retry. */
  let instances = 0;
  async function start(auth: AuthModuleOptions): Promise<Host> {
    const other = await Host.start({ database, auth, users: [] });
    other.clock.advance(++instances * 60_000);
    others.push(other);
    return other;
  }

  it('of a guarded request are one', async () => {
    const { access_token: token } = await host.login();
    expect(await statementsDuring(tap, () => host.auth.authenticate(token))).toEqual(['SELECT']);
  });

  it('of a guarded request after a refresh are one where there is no grace period', async () => {
    const { refresh_token: token } = await host.login();
    const { accessToken } = await host.auth.refresh(token);
    expect(await statementsDuring(tap, () => host.auth.authenticate(accessToken))).toEqual(['SELECT']);
  });

  it('of the first guarded request after a refresh are one more within a grace period', async () => {
    const graceful = await start(GRACE);
    const { access_token: opened, refresh_token: token } = await graceful.login();
    const own = new Tap(graceful);
    expect(await statementsDuring(own, () => graceful.auth.authenticate(opened))).toEqual(['SELECT']);
    const { accessToken } = await graceful.auth.refresh(token);
    const authenticate = (): Promise<unknown> => graceful.auth.authenticate(accessToken);
    expect(await statementsDuring(own, authenticate)).toEqual(['SELECT', 'UPDATE']);
    expect(await statementsDuring(own, authenticate)).toEqual(['SELECT']);
  });

  it('of the first guarded request after the grace period are one', async () => {
    const graceful = await start(GRACE);
    const { accessToken } = await graceful.auth.refresh((await graceful.login()).refresh_token);
    graceful.clock.advance(10_000);
    const own = new Tap(graceful);
    expect(await statementsDuring(own, () => graceful.auth.authenticate(accessToken))).toEqual(['SELECT']);
  });

  it.each([{}, GRACE])('of a refresh are those of one guarded update: %j', async (auth) => {
    const own = await start(auth);
    const { refresh_token: token } = await own.login();
    expect(await statementsDuring(new Tap(own), () => own.auth.refresh(token))).toEqual(REFRESH[name]);
  });

  it('of a refresh over cookies are the same without an access token, and begin with a read with one', async () => {
    const own = await start({ cookies: { mode: 'optional' } });
    const tapped = new Tap(own);
    const cookies = own.app.get(CookieSessions);
    const { refreshToken } = await own.auth.login({ username: 'alice', password: PASSWORD });
    let pair = await cookies.refresh({ refreshToken, accessToken: null }, {});
    own.clock.advance(20_000);
    const rotate = async (withAccessToken: boolean): Promise<void> => {
      const presented = { refreshToken: pair.refreshToken, accessToken: withAccessToken ? pair.accessToken : null };
      pair = await cookies.refresh(presented, {});
    };
    expect(await statementsDuring(tapped, () => rotate(false))).toEqual(REFRESH[name]);
    own.clock.advance(20_000);
    const afterRead = name === 'postgres' ? ['SELECT', ...REFRESH.postgres] : REFRESH[name];
    expect(await statementsDuring(tapped, () => rotate(true))).toEqual(afterRead);
    expect(await statementsDuring(tapped, () => rotate(true))).toEqual(['SELECT']);
  });

  it('of a login are at most 13', async () => {
    await host.login();
    const statements = await statementsDuring(tap, () => host.login());
    expect(statements.length).toBeLessThanOrEqual(MOST_OF_A_LOGIN);
    expect(statements).toContain('COMMIT');
  });

  it('of a login that needs a second factor are at most 13', async () => {
    const own = await start({ secondFactor: new SecondFactorOfAll() });
    const login = (): Promise<unknown> => expect(own.login()).rejects.toThrow('second_factor_required');
    const tapped = new Tap(own);
    for (let logins = 0; logins < 2; logins++) {
      expect((await statementsDuring(tapped, login)).length).toBeLessThanOrEqual(MOST_OF_A_LOGIN);
    }
  });

  it('of the very first login of a user are at most 13', async () => {
    await host.auth.createUser({ username: 'carol', password: PASSWORD });
    expect((await statementsDuring(tap, () => host.login('carol'))).length).toBeLessThanOrEqual(MOST_OF_A_LOGIN);
  });

  it.each([{ sessionPolicy: 'single' }, { sessionPolicy: 'max_count', maxSessions: 2 }] as const)(
    'of a login that ends another session are at most three more: %j',
    async (auth) => {
      const limited = await start(auth);
      await limited.login();
      await limited.login();
      // The user's lock is held already. The active sessions are locked again, read and marked.
      const statements = await statementsDuring(new Tap(limited), () => limited.login());
      expect(statements.length).toBeLessThanOrEqual(MOST_OF_A_LOGIN + 3);
      expect(limited.sent('user_logged_out').length).toBeGreaterThan(0);
    },
  );

  it('of the end of all sessions are as many for a hundred of them as for one', async () => {
    const end = async (sessions: number): Promise<number> => {
      const { access_token: token } = await host.login();
      for (let i = 1; i < sessions; i++) await host.login();
      const principal = (await host.auth.authenticate(token))!;
      return (await statementsDuring(tap, () => host.auth.logoutAll(principal))).length;
    };
    const forOne = await end(1);
    // The current one ends for another reason than the others, which is a statement more.
    expect(await end(100)).toBeLessThanOrEqual(forOne + 1);
  });

  it('of a reuse are as many for a hundred sessions as for one', async () => {
    const reuse = async (sessions: number): Promise<number> => {
      const { refresh_token: token } = await host.login();
      for (let i = 1; i < sessions; i++) await host.login();
      await host.auth.refresh(token);
      return (await statementsDuring(tap, () => host.auth.refresh(token).catch(() => undefined))).length;
    };
    expect(await reuse(100)).toBe(await reuse(1));
  });
});
