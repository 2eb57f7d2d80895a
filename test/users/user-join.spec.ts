import { AuthSession, AuthUser, type UserId } from 'nestjs-session-auth';
import type { DataSource } from 'typeorm';
import { DATABASES, type Dialect, DIALECTS } from '../support/databases';
import { entityOf, GENERATED_ID, mappedUsers, OPTIONAL_TEXT } from '../support/mapped-users';
import { startForTest } from '../support/start-for-test';
import { Tap, type Call } from '../support/tap';
import type { TestApplication } from '../support/test-application';

/** The number of rows, which is large enough for the planner to prefer an index. */
const ROWS = 3_000;
const SESSIONS_PER_READ = 10;

const columns = { email: { type: 'varchar', length: 255, unique: true }, password: OPTIONAL_TEXT } as const;
const Member = entityOf('Member', { id: GENERATED_ID, ...columns });
const MemberWithTextId = entityOf('Member', { id: { type: 'varchar', length: 36, primary: true }, ...columns });
const MAPPING = { username: 'email', passwordHash: 'password' };

const emailOf = (index: number): object => ({ email: `user-${index}`, password: null });
const idOf = (index: number): string => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;

type Row = (index: number) => object;

const USERS: readonly [string, new () => object, Row][] = [
  ['mapped users', Member, emailOf],
  ['mapped users with text ids', MemberWithTextId, (index) => ({ id: idOf(index), ...emailOf(index) })],
  [
    "the library's own users",
    AuthUser,
    (i) => ({ id: idOf(i), username: `user-${i}`, usernameKey: `key-${i}`, active: true, createdAt: 0 }),
  ],
];

/** Returns the tables that a plan scans completely. */
const SCANS: Record<Dialect, (dataSource: DataSource, call: Call) => Promise<string[]>> = {
  async postgres(dataSource, { sql, params }) {
    const plan: Record<string, string>[] = await dataSource.query(`EXPLAIN ${sql}`, [...params]);
    return plan.map((row) => Object.values(row)[0]!).filter((line) => line.includes('Seq Scan'));
  },
  async mysql(dataSource, { sql, params }) {
    const plan: { table: string | null; type: string | null }[] = await dataSource.query(`EXPLAIN ${sql}`, [...params]);
    return plan.filter(({ type }) => type === 'ALL' || type === 'index').map(({ table }) => String(table));
  },
  async sqlite(dataSource, { sql, params }) {
    const plan: { detail: string }[] = await dataSource.query(`EXPLAIN QUERY PLAN ${sql}`, [...params]);
    return plan.map(({ detail }) => detail).filter((detail) => detail.startsWith('SCAN'));
  },
};

describe.each(DATABASES)('session lookups on %s', (name) => {
  it.each(USERS)(
    'a session lookup joined with %s scans neither table completely',
    async (_, entity, row) => {
      const isOwn = entity === AuthUser;
      const app = await startForTest(name, isOwn ? { users: [] } : mappedUsers({ entity, ...MAPPING }));
      const userId = await fill(app, entity, row);
      const opened = [];
      for (let i = 0; i < SESSIONS_PER_READ; i++) opened.push(await app.auth.openSession(userId));
      const calls = new Map<string, Call>();
      const tap = new Tap(app);
      tap.hook = {
        before: (call) => {
          const { sql, params } = call.only ?? call;
          if (sql?.includes('access_digest')) calls.set(sql, { ...call, sql, params: [...(params ?? [])] });
        },
      };
      await Promise.all(opened.map(({ accessToken }) => app.auth.authenticate(accessToken)));
      tap.hook = {};
      // The first lookup reads one session. The second lookup reads the sessions requested in the meantime.
      expect(calls.size).toBe(2);
      for (const call of calls.values()) {
        expect(call.sql).toContain('LEFT JOIN');
        expect(await SCANS[DIALECTS[name]](app.dataSource, call)).toEqual([]);
      }
    },
    60_000,
  );
});

/** Inserts users and sessions that the lookup must skip. */
async function fill(app: TestApplication, entity: new () => object, row: Row): Promise<UserId> {
  const users = Array.from({ length: ROWS }, (_, index) => row(index + 1));
  await insert(app, entity, users);
  const [user] = await app.dataSource.getRepository<{ id: UserId }>(entity).find({ take: 1 });
  const { sessionId } = await app.auth.openSession(user!.id);
  const session = await app.dataSource.getRepository(AuthSession).findOneByOrFail({ id: sessionId });
  await insert(
    app,
    AuthSession,
    users.map((_, index) => ({ ...session, id: idOf(index), userId: `another-${index}` })),
  );
  return user!.id;
}

async function insert(app: TestApplication, entity: new () => object, rows: readonly object[]): Promise<void> {
  for (let i = 0; i < rows.length; i += 250) await app.dataSource.manager.insert(entity, rows.slice(i, i + 250));
}
