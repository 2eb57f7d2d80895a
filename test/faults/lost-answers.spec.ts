import type { DataSource } from 'typeorm';
import { boundParams } from '../../libs/auth/src/store/sql/unit';
import { createDatabase, describeEachPooled, describeOn, type TestDatabase } from '../support/databases';
import { Host } from '../support/host';
import { Tap } from '../support/tap';

const lost = (): Error => Object.assign(new Error('the connection is gone'), { code: 'ECONNRESET' });

describeEachPooled('an answer that gets lost on %s', (name) => {
  it('of a refresh without rotation does not have it done twice', async () => {
    const database = await createDatabase(name);
    const host = await Host.start({ database, auth: { rotateRefreshTokens: false } });
    const { refresh_token: token } = await host.login();
    let losses = 0;
    const isLast = name === 'postgres' ? /^WITH won/ : /^COMMIT/;
    new Tap(host).hook = {
      after: ({ sql }) => {
        if (isLast.test(sql) && losses++ === 0) throw lost();
      },
    };
    const { accessToken } = await host.auth.refresh(token);
    expect(losses).toBeGreaterThan(0);
    await host.get('/me', accessToken).expect(200);
    expect(await host.dataSource.query(`SELECT id FROM auth_events WHERE event = 'token_refresh'`)).toHaveLength(1);
    await host.close();
    await database.drop();
  });
});

describeOn('postgres')('a login whose connection is lost while the database is still at it', () => {
  let database: TestDatabase;
  let host: Host;

  beforeAll(async () => {
    database = await createDatabase('postgres');
    host = await Host.start({ database });
  });
  afterAll(async () => {
    await host.close();
    await database.drop();
  });

  it('finds out that it was done in the end', async () => {
    await host.login();
    const first = host.dataSource.createQueryRunner();
    const tap = new Tap(host);
    let isLost = false;
    tap.hook = {
      async before(call) {
        if (isLost || !/^WITH won AS \(\s*UPDATE .auth_user_locks/.test(call.sql)) return;
        isLost = true;
        tap.hook = {};
        await first.startTransaction();
        await first.query(call.sql, boundParams(call));
        void whenSomebodyWaits(host.dataSource).then(() => first.commitTransaction());
        throw lost();
      },
    };
    await host.login();
    await first.release();
    expect(await host.dataSource.query('SELECT id FROM auth_sessions')).toHaveLength(2);
    expect(await host.dataSource.query(`SELECT id FROM auth_events WHERE event = 'login_success'`)).toHaveLength(2);
    expect(host.sent('user_logged_in')).toHaveLength(2);
  });
});

async function whenSomebodyWaits(dataSource: DataSource): Promise<void> {
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  while ((await dataSource.query<unknown[]>(waiting)).length === 0) await new Promise(setImmediate);
}
