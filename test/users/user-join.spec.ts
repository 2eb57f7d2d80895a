import { AuthSession, type UserId } from 'nestjs-session-auth';
import { DATABASES, DIALECTS } from '../support/databases';
import { entityOf, GENERATED_ID, mappedUsers, OPTIONAL_TEXT } from '../support/mapped-users';
import { scansOf } from '../support/plans';
import { insertRows } from '../support/rows';
import { startForTest } from '../support/start-for-test';
import { Tap, type Call } from '../support/tap';

const columns = { email: { type: 'varchar', length: 255, unique: true }, password: OPTIONAL_TEXT } as const;
const Member = entityOf('Member', { id: GENERATED_ID, ...columns });
const MemberWithTextId = entityOf('Member', { id: { type: 'varchar', length: 36, primary: true }, ...columns });

const emailOf = (index: number): object => ({ email: `user-${index}`, password: null });
const idOf = (index: number): string => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;

describe.each(DATABASES)('session lookups on %s', (name) => {
  it.each<[string, new () => object, (index: number) => object]>([
    ['integers', Member, emailOf],
    ['text', MemberWithTextId, (i) => ({ id: idOf(i), ...emailOf(i) })],
  ])(
    'a session lookup joined with mapped users whose ids are %s scans neither table completely',
    async (_, entity, row) => {
      const app = await startForTest(name, mappedUsers({ entity, username: 'email', passwordHash: 'password' }));
      // So many rows that the planner prefers an index.
      const users = Array.from({ length: 3_000 }, (_, index) => row(index + 1));
      await insertRows(app, entity, users);
      const [user] = await app.dataSource.getRepository<{ id: UserId }>(entity).find({ take: 1 });
      const opened = [];
      for (let i = 0; i < 10; i++) opened.push(await app.auth.openSession(user!.id));
      const session = await app.dataSource.getRepository(AuthSession).findOneByOrFail({ id: opened[0]!.sessionId });
      const others = users.map((_, index) => ({ ...session, id: idOf(index), userId: `another-${index}` }));
      await insertRows(app, AuthSession, others);
      const calls = new Map<string, Call>();
      const tap = new Tap(app);
      tap.hook.before = (call) => {
        const { sql, params = [] } = call.only ?? call;
        if (sql?.includes('access_digest')) calls.set(sql, { ...call, sql, params: [...params] });
      };
      await Promise.all(opened.map(({ accessToken }) => app.auth.authenticate(accessToken)));
      tap.hook = {};
      // The first lookup reads one session. The second lookup reads the sessions requested in the meantime.
      expect(calls.size).toBe(2);
      for (const call of calls.values()) {
        expect(call.sql).toContain('LEFT JOIN');
        expect(await scansOf[DIALECTS[name]](app.dataSource, call)).toEqual([]);
      }
    },
    60_000,
  );
});
