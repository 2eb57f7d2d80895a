import type { AuthModuleOptions } from 'nestjs-session-auth';
import { SessionAdministration } from 'nestjs-session-auth';
import { StatementFactory } from '../../libs/auth/src/database/statements';
import { createDatabase, DATABASES, type TestDatabase } from '../support/databases';
import { DAY } from '../support/driven-clock';
import { TestApplication, PASSWORD } from '../support/test-application';
import { Tap } from '../support/tap';
import { writtenTables } from '../support/written-tables';

/** The entities whose statements with a list of keys must repeat the conditions of the read. */
const CHANGING = ['session', 'failure', 'reset', 'lock'];

const SETTINGS: AuthModuleOptions = {
  refreshReuseGraceSeconds: 10,
  sessionPolicy: 'max_count',
  maxSessions: 3,
  activityIntervalSeconds: 1,
  history: { maxRowsPerUser: 5 },
};

it.each([
  ['UPDATE t SET a = 1', ['t']],
  ['SELECT a FROM t FOR UPDATE SKIP LOCKED', []],
  ["SELECT 'UPDATE t' AS text", []],
  ['INSERT INTO "s"."t" VALUES (1) ON CONFLICT (a) DO UPDATE SET a = 2', ['s.t']],
  ['INSERT INTO `t` VALUES (1) ON DUPLICATE KEY UPDATE a = 2', ['t']],
  ['WITH x AS (UPDATE t SET a = 1 RETURNING a), y AS (DELETE FROM t) SELECT 1', ['t', 't']],
  ['WITH x AS (UPDATE {t} AS s SET a = 1), y AS (INSERT INTO {u} SELECT 1) SELECT 1', ['t', 'u']],
])('writtenTables() finds the tables that the statement %s changes', (sql, tables) => {
  expect(writtenTables(sql)).toEqual(tables);
});

describe.each(DATABASES)('SQL statements on %s', (name) => {
  let database: TestDatabase;
  let app: TestApplication;
  const templates = new Set<string>();

  beforeAll(async () => {
    for (const method of ['statement', 'prepared'] as const) {
      const compile = StatementFactory.prototype[method];
      jest.spyOn(StatementFactory.prototype, method).mockImplementation(function (this: StatementFactory, template) {
        templates.add(template);
        return compile.call(this, template);
      });
    }
    database = await createDatabase(name);
    app = await TestApplication.start({ database, auth: SETTINGS });
  });
  afterAll(async () => {
    jest.restoreAllMocks();
    await app.close();
    await database.drop();
  });

  it('no statement changes the same table twice', async () => {
    const sent = new Set<string>();
    new Tap(app).hook = { before: ({ sql }) => void sent.add(sql) };
    await runOperations(app);
    const statements = [...templates, ...sent];
    const written = new Set([...sent].flatMap(writtenTables));
    // The operations change every table.
    expect([...written].filter((table) => table.startsWith('auth_')).sort()).toEqual([
      'auth_events',
      'auth_login_failures',
      'auth_login_tickets',
      'auth_password_resets',
      'auth_sessions',
      'auth_user_locks',
      'auth_users',
    ]);
    expect(statements.filter((sql) => new Set(writtenTables(sql)).size < writtenTables(sql).length)).toEqual([]);
  });

  it('a statement that updates or deletes rows that were read before repeats the conditions of the read', () => {
    // Owners of counters are computed, not read.
    const byList = [...templates].filter((template) => /^(UPDATE|DELETE).* IN \(:(?!owners)/s.test(template));
    const changing = byList.filter((template) => CHANGING.includes(writtenTables(template)[0]!));
    expect(changing.length).toBeGreaterThan(5);
    for (const template of changing) expect(template).toMatch(/ IN \(:\w+\.\.\.\) AND |:first, :last/);
  });

  it('a statement that updates a session requires an active session', () => {
    const changes = [...templates].filter((template) => /UPDATE \{session\}/.test(template));
    expect(changes.length).toBeGreaterThan(5);
    for (const template of changes) {
      expect(template.slice(template.indexOf('WHERE'))).toMatch(/\{session\.state\} = 'active'/);
    }
  });
});

/** Runs most of the operations that change tables. */
async function runOperations(app: TestApplication): Promise<void> {
  const { auth } = app;
  const credentials = { username: 'alice', password: PASSWORD };
  await auth.login({ ...credentials, password: 'wrong' }).catch(() => undefined);
  const { user, ticket } = await auth.verifyCredentials(credentials);
  await auth.attempt({ ticket, method: 'otp' }, {}, () => false);
  await auth.attempt({ ticket, method: 'otp' }, {}, () => true);
  await auth.openSession({ ticket });
  for (let i = 0; i <= 20; i++) await auth.createLoginTicket(user, { methods: ['hwk'] });
  const opened = await auth.login(credentials);
  const pair = await auth.refresh(opened.refreshToken);
  await auth.refresh(opened.refreshToken);
  const principal = (await auth.authenticate(pair.accessToken))!;
  const { userId } = principal;
  app.clock.advance(60_000);
  await auth.authenticate(pair.accessToken);
  await auth.reauthenticate(principal, 'wrong').catch(() => undefined);
  for (let i = 0; i < 4; i++) await auth.login(credentials);
  app.clock.advance(DAY);
  const latest = await auth.login(credentials);
  const current = (await auth.authenticate(latest.accessToken))!;
  await auth.changePassword(current, { currentPassword: PASSWORD, newPassword: 'another long password' });
  const { token } = await auth.createPasswordResetToken(userId);
  await auth.redeemPasswordResetToken(token, PASSWORD);
  const stolen = await auth.login(credentials);
  const next = await auth.refresh(stolen.refreshToken);
  await auth.refresh(next.refreshToken);
  await auth.refresh(stolen.refreshToken).catch(() => undefined);
  await auth.logoutAll((await auth.authenticate((await auth.login(credentials)).accessToken))!);
  await auth.login(credentials);
  await app.nest.get(SessionAdministration).end({ everyone: true }, { actor: 'carol' });
  await auth.disableUser(userId);
  await auth.enableUser(userId);
  await auth.login(credentials);
  app.clock.advance(400 * DAY);
  await app.pruning.prune();
  await auth.resetFailedLogins('alice');
  await auth.forgetUser(userId);
  await auth.createUser({ username: 'carol', password: PASSWORD });
}
