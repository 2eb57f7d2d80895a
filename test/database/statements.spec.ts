import { AuthEvent, AuthSession, type AuthModuleOptions } from 'nestjs-session-auth';
import { StatementFactory } from '../../libs/auth/src/database/statements';
import { firstEventIdAt } from '../../libs/auth/src/history/event-log';
import { DIALECTS } from '../support/databases';
import { DAY } from '../support/driven-clock';
import { describeOnEachDatabase } from '../support/environment';
import { scansOf } from '../support/plans';
import { insertRows, sessionRow } from '../support/rows';
import type { Call } from '../support/tap';
import { TestApplication } from '../support/test-application';
import { useEverything } from '../support/use-everything';
import { writtenTables } from '../support/written-tables';

/** The number of sessions, which is large enough for the planner to prefer an index. */
const SESSIONS = 3_000;

const AUTH: AuthModuleOptions = {
  refreshReuseGraceSeconds: 10,
  sessionPolicy: 'max_count',
  maxSessions: 5,
  activityIntervalSeconds: 1,
  history: { maxRowsPerUser: 2 },
};

async function fill(app: TestApplication): Promise<void> {
  const now = app.clock.now();
  const at = (i: number): number => now + (i % 500) * 1_000;
  const sessions = Array.from({ length: SESSIONS }, (_, i) =>
    sessionRow(i, {
      userId: `user-${i % 1_000}`,
      state: i % 3 === 0 ? 'revoked' : 'active',
      checkAt: at(i) + (i % 3 === 0 ? 90 : 20) * DAY,
      ...{ createdAt: now, authenticatedAt: now, lastActivity: now, accessExpiresAt: at(i), refreshExpiresAt: at(i) },
      ...{ idleExpiresAt: at(i) + 20 * DAY, absoluteExpiresAt: at(i) + 30 * DAY },
    }),
  );
  const events = Array.from({ length: SESSIONS * 2 }, (_, i) => ({
    // A few events are old enough to be pruned.
    id: i % 200 === 0 ? i + 1 : firstEventIdAt(at(i)) + i,
    userId: i % 10 === 0 ? null : `user-${i % 1_000}`,
    ...{ event: 'token_refresh', ipAddress: null, userAgent: '', extra: {}, occurredAt: at(i) },
  }));
  await insertRows(app, AuthSession, sessions);
  await insertRows(app, AuthEvent, events);
}

describe('the statements of the library', () => {
  const templates = new Set<string>();
  beforeAll(() => {
    for (const method of ['statement', 'prepared'] as const) {
      const compile = StatementFactory.prototype[method];
      jest.spyOn(StatementFactory.prototype, method).mockImplementation(function (this: StatementFactory, template) {
        templates.add(template);
        return compile.call(this, template);
      });
    }
  });
  afterAll(() => jest.restoreAllMocks());

  describeOnEachDatabase('with many sessions', { auth: AUTH }, ({ app, tap, name }) => {
    const sent = new Map<string, Call>();
    const scans: string[] = [];
    let planned = 0;

    beforeAll(async () => {
      await fill(app);
      if (DIALECTS[name] === 'postgres') await app.dataSource.query('ANALYZE');
      if (DIALECTS[name] === 'mysql') await app.dataSource.query('ANALYZE TABLE auth_sessions, auth_events');
      tap.hook = { before: (call) => void (call.sql && sent.set(call.sql, { ...call, params: [...call.params] })) };
      await useEverything(app);
      tap.hook = {};
      for (const call of sent.values()) {
        if (!/^(SELECT|UPDATE|DELETE|WITH)/.test(call.sql) || !/auth_(?!users)/.test(call.sql)) continue;
        const scanned = await scansOf[DIALECTS[name]](app.dataSource, call);
        planned++;
        // A dry run of pruning counts the rows of all users.
        if (call.sql.includes('HAVING COUNT(*)')) continue;
        // Planners scan tables that have only a few rows.
        const isLarge = (table: string): boolean => ['auth_sessions', 'auth_events', 's'].includes(table);
        if (scanned.some(({ table, usesIndex }) => isLarge(table) && !usesIndex)) scans.push(call.sql);
      }
    }, 180_000);

    it('no statement scans a large table, except in a dry run of pruning', () => {
      expect(planned).toBeGreaterThan(30);
      expect(scans).toEqual([]);
    });

    it('no statement changes the same table twice', () => {
      const written = new Set([...sent.keys()].flatMap(writtenTables));
      expect([...written]).toEqual(expect.arrayContaining(app.dataSource.entityMetadatas.map((one) => one.tableName)));
      const statements = [...templates, ...sent.keys()];
      // One statement rotates a session and writes the event.
      if (DIALECTS[name] === 'postgres') {
        expect(statements.map(writtenTables)).toContainEqual(['auth_sessions', 'auth_events']);
      }
      expect(statements.filter((sql) => new Set(writtenTables(sql)).size < writtenTables(sql).length)).toEqual([]);
    });

    it('a statement that updates or deletes rows that were read before repeats the conditions of the read', () => {
      // Owners of counters are computed, not read.
      const byList = [...templates].filter((template) => /^(UPDATE|DELETE).* IN \(:(?!owners)/s.test(template));
      const entities = ['session', 'failure', 'reset', 'lock'];
      const changing = byList.filter((template) => entities.includes(writtenTables(template)[0]!));
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
});
