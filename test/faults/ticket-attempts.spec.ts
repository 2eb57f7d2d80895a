import { AuthLoginFailure, AuthLoginTicket } from 'nestjs-session-auth';
import { createHash } from 'node:crypto';
import { DataSource } from 'typeorm';
import { Database } from '../../libs/auth/src/database/database';
import { createDatabase, DATABASES, DIALECTS, type TestDatabase } from '../support/databases';
import { TestApplication } from '../support/test-application';
import { Tap } from '../support/tap';
import { FaultHook, FAULTS, type Fault } from './faults';
import { newFixture } from './operations';

describe.each(DATABASES)('faults during an attempt with a login ticket on %s', (name) => {
  let database: TestDatabase;
  let app: TestApplication;
  let tap: Tap;
  let observer: DataSource;

  beforeAll(async () => {
    database = await createDatabase(name);
    app = await TestApplication.start({ database, users: [] });
    Object.assign(app.nest.get(Database), { pause: () => Promise.resolve() });
    tap = new Tap(app);
    observer = await new DataSource(database.options).initialize();
  });
  afterAll(async () => {
    await observer.destroy();
    await app.close();
    await database.drop();
  });

  const faults = FAULTS.filter(({ on, lasting }) => on.includes(DIALECTS[name]) && !lasting);
  const cases = faults.flatMap((fault) => [true, false].map((isRight) => ({ fault, isRight, title: fault.name })));

  it.each(cases)(
    'an attempt in which any statement $title is not lost: a wrong secret is counted, a reported proof is stored (result: $isRight)',
    async (one) => {
      let statements = 0;
      while (await inject(one.fault, one.isRight, statements + 1)) statements++;
      // The statements read the ticket, count the attempt, and write its result.
      expect(statements).toBeGreaterThanOrEqual(6);
    },
  );

  async function inject(fault: Fault, isRight: boolean, at: number): Promise<boolean> {
    const { userId } = await newFixture(app);
    const ticket = await app.auth.createLoginTicket(userId, { methods: ['pwd'] });
    const tickets = app.dataSource.getRepository(AuthLoginTicket);
    const digest = createHash('sha256').update(ticket).digest('hex');
    let checks = 0;
    const check = (): boolean => {
      checks++;
      return isRight;
    };
    const hook = new FaultHook(fault, at, { name, observer, hanging: new Promise<never>(() => undefined) });
    tap.hook = hook;
    const outcome = await app.auth.attempt({ ticket, method: 'otp' }, {}, check).catch((error: unknown) => error);
    tap.hook = {};
    if (hook.struck === null) return false;

    if (fault.outcome === 'works') expect(outcome).toBe(isRight);
    if (outcome !== isRight) expect(outcome).toMatchObject({ code: 'database_unavailable' });
    const stored = await untilReconnected(() => tickets.findOneByOrFail({ digest }));
    const isProved = Object.keys(JSON.parse(stored.methods) as object).includes('otp');
    if (outcome === true) expect([isProved, stored.failureCount <= 1]).toEqual([true, true]);
    if (!isRight) expect([isProved, stored.failureCount >= checks]).toEqual([false, true]);
    expect([checks <= 1, stored.failureCount <= 2]).toEqual([true, true]);
    // Counts that could not be taken back would expire. Deleting the rows has the same effect.
    await app.dataSource.getRepository(AuthLoginFailure).deleteAll();
    expect(await app.auth.attempt({ ticket, method: 'otp' }, {}, () => true)).toBe(true);
    return true;
  }

  /** The pool may still contain connections that were cut. */
  async function untilReconnected<T>(read: () => Promise<T>, tries = 10): Promise<T> {
    return read().catch((error: unknown) => {
      if (tries === 0) throw error;
      return untilReconnected(read, tries - 1);
    });
  }
});
