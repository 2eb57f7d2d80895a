import type { AuthModuleOptions } from 'nestjs-session-auth';
import { refreshWithCookies } from '../support/cookie-refresh';
import { type Dialect, DIALECTS } from '../support/databases';
import { describeOnEachDatabase } from '../support/environment';
import { secondFactorIf } from '../support/second-factor';
import { Tap } from '../support/tap';
import { type TestApplication, PASSWORD } from '../support/test-application';
import { writtenTables } from '../support/written-tables';

/** Returns the first word of each statement that the work sends, and adds the statements to `sent`. */
async function statementsDuring(tap: Tap, work: () => Promise<unknown>, sent: string[] = []): Promise<string[]> {
  await new Promise(setImmediate);
  tap.hook = { before: ({ kind, sql }) => void (kind === 'statement' && sent.push(sql)) };
  await work();
  tap.hook = {};
  return sent.map((sql) => /^\w+/.exec(sql)![0]);
}

const GRACE = { refreshReuseGraceSeconds: 10 };

/** The limit includes BEGIN and COMMIT, and applies to a login that ends no session and upgrades no hash. */
const MAX_LOGIN_STATEMENTS = 13;

const REFRESH: Readonly<Record<Dialect, string[]>> = {
  postgres: ['WITH'],
  mysql: ['SELECT', 'START', 'UPDATE', 'INSERT', 'COMMIT'],
  sqlite: ['SELECT', 'BEGIN', 'UPDATE', 'INSERT', 'COMMIT'],
};

describeOnEachDatabase('the number of statements', {}, ({ app, tap, start: startInstance, name }) => {
  let instances = 0;
  /** Starts an instance at another time: event ids of one millisecond may collide, which costs a retry. */
  async function start(auth: AuthModuleOptions): Promise<[TestApplication, Tap]> {
    const app = await startInstance({ auth });
    app.clock.advance(++instances * 60_000);
    return [app, new Tap(app)];
  }
  const refreshStatements = REFRESH[DIALECTS[name]];

  it('a guarded request takes one statement, also after a refresh', async () => {
    const { access_token: opened, refresh_token: token } = await app.login();
    expect(await statementsDuring(tap, () => app.auth.authenticate(opened))).toEqual(['SELECT']);
    const { accessToken } = await app.auth.refresh(token);
    expect(await statementsDuring(tap, () => app.auth.authenticate(accessToken))).toEqual(['SELECT']);
  });

  it('the first guarded request after a refresh takes one more statement within a grace period, and only then', async () => {
    const [app, tap] = await start(GRACE);
    const { access_token: opened, refresh_token: token } = await app.login();
    expect(await statementsDuring(tap, () => app.auth.authenticate(opened))).toEqual(['SELECT']);
    const pair = await app.auth.refresh(token);
    const authenticate = (): Promise<unknown> => app.auth.authenticate(pair.accessToken);
    expect(await statementsDuring(tap, authenticate)).toEqual(['SELECT', 'UPDATE']);
    expect(await statementsDuring(tap, authenticate)).toEqual(['SELECT']);
    const { accessToken: late } = await app.auth.refresh(pair.refreshToken);
    app.clock.advance(10_000);
    expect(await statementsDuring(tap, () => app.auth.authenticate(late))).toEqual(['SELECT']);
  });

  it.each([{}, GRACE])(
    'a refresh takes only the statements of one guarded update, and inserts only an event, with the options %j',
    async (auth) => {
      const [app, tap] = await start(auth);
      let { refresh_token: token } = await app.login();
      for (let i = 0; i < 2; i++) {
        const sent: string[] = [];
        const refresh = async (): Promise<void> => void ({ refreshToken: token } = await app.auth.refresh(token));
        expect(await statementsDuring(tap, refresh, sent)).toEqual(refreshStatements);
        expect(sent.flatMap(writtenTables)).toEqual(['auth_sessions', 'auth_events']);
      }
    },
  );

  it('a refresh over cookies takes the statements of a bearer refresh, after a read if the request has an access token', async () => {
    const [app, tap] = await start({ cookies: { mode: 'optional' } });
    const { refreshToken } = await app.auth.login({ username: 'alice', password: PASSWORD });
    let pair = await refreshWithCookies(app, { refreshToken, accessToken: null });
    app.clock.advance(20_000);
    const rotate = async (withAccessToken: boolean): Promise<void> => {
      const presented = { refreshToken: pair.refreshToken, accessToken: withAccessToken ? pair.accessToken : null };
      pair = await refreshWithCookies(app, presented);
    };
    expect(await statementsDuring(tap, () => rotate(false))).toEqual(refreshStatements);
    app.clock.advance(20_000);
    const afterRead = refreshStatements[0] === 'WITH' ? ['SELECT', 'WITH'] : refreshStatements;
    expect(await statementsDuring(tap, () => rotate(true))).toEqual(afterRead);
    expect(await statementsDuring(tap, () => rotate(true))).toEqual(['SELECT']);
  });

  it('each login of a user takes at most 13 statements, also if it needs a second factor', async () => {
    await app.auth.createUser({ username: 'carol', password: PASSWORD });
    const [strict, strictTap] = await start({ secondFactor: secondFactorIf(() => true) });
    const refused = (): Promise<unknown> => expect(strict.login()).rejects.toThrow('second_factor_required');
    for (let logins = 0; logins < 2; logins++) {
      const statements = await statementsDuring(tap, () => app.login('carol'));
      expect(statements.length).toBeLessThanOrEqual(MAX_LOGIN_STATEMENTS);
      expect((await statementsDuring(strictTap, refused)).length).toBeLessThanOrEqual(MAX_LOGIN_STATEMENTS);
    }
  });

  it('a logout of all and reuse take as many statements for 100 sessions as for one', async () => {
    const countsFor = async (sessions: number): Promise<[reuse: number, logoutAll: number]> => {
      const logins = async () => {
        const first = await app.login();
        for (let i = 1; i < sessions; i++) await app.login();
        return first;
      };
      const { refresh_token: token } = await logins();
      await app.auth.refresh(token);
      const reuse = await statementsDuring(tap, () => app.auth.refresh(token).catch(() => undefined));
      const principal = (await app.auth.authenticate((await logins()).access_token))!;
      return [reuse.length, (await statementsDuring(tap, () => app.auth.logoutAll(principal))).length];
    };
    const [reuse, logoutAll] = await countsFor(1);
    const [reuseOfMany, logoutOfMany] = await countsFor(100);
    expect(reuseOfMany).toBe(reuse);
    // Other sessions end for a different reason than the current session, which takes one more statement.
    expect(logoutOfMany).toBeLessThanOrEqual(logoutAll + 1);
  });
});
