import { DataSource } from 'typeorm';
import { createDatabase, DATABASES, describeEachPooled } from '../support/databases';
import { MINUTE } from '../support/driven-clock';
import { Host } from '../support/host';
import { Tap } from '../support/tap';

async function activityOf(host: Host, sessionId: string): Promise<number> {
  const [row] = await host.dataSource.query(
    `SELECT last_activity - created_at AS since FROM auth_sessions WHERE id = '${sessionId}'`,
  );
  return Number(row.since);
}

/** The activity is written after the response. */
async function becomes(expected: number, read: () => Promise<number>): Promise<void> {
  for (let i = 0; i < 200 && (await read()) !== expected; i++) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(await read()).toBe(expected);
}

/** Resolves when the next batch of activity has been written, or skipped because it is locked. */
function nextActivityWrite(host: Host): Promise<void> {
  const tap = new Tap(host);
  let isWriting = false;
  return new Promise((resolve) => {
    tap.hook = {
      after: ({ sql }) => {
        if (sql.endsWith('FOR UPDATE SKIP LOCKED')) isWriting = true;
        if (sql === 'COMMIT' && isWriting) resolve();
      },
    };
  });
}

describe.each(DATABASES)('the activity of many sessions on %s', (name) => {
  it('is written in a few statements, however many they are, and once in an interval', async () => {
    const database = await createDatabase(name);
    const host = await Host.start({ database });
    const sessions = [];
    for (let i = 0; i < 120; i++) sessions.push(await host.login());
    host.clock.advance(2 * MINUTE);
    const tap = new Tap(host);
    let updates = 0;
    tap.hook = {
      before: ({ sql }) => {
        if (/^UPDATE .?auth_sessions/.test(sql)) updates++;
      },
    };
    await Promise.all(sessions.map(({ access_token }) => host.auth.authenticate(access_token)));
    for (const { session_id } of sessions) await becomes(2 * MINUTE, () => activityOf(host, session_id));
    expect(updates).toBeLessThanOrEqual(4);
    const before = updates;
    host.clock.advance(MINUTE - 1);
    await Promise.all(sessions.map(({ access_token }) => host.auth.authenticate(access_token)));
    await host.close();
    expect(updates).toBe(before);
    await database.drop();
  });
});

describeEachPooled('the activity of a session that another transaction has locked on %s', (name) => {
  it('is written when the lock is released, without another request', async () => {
    const database = await createDatabase(name);
    const host = await Host.start({ database });
    const { access_token: token, session_id: session } = await host.login();
    host.clock.advance(10 * MINUTE);
    const locker = host.dataSource.createQueryRunner();
    await locker.startTransaction();
    await locker.query(`SELECT id FROM auth_sessions WHERE id = '${session}' FOR UPDATE`);
    const written = nextActivityWrite(host);
    await host.get('/me', token).expect(200);
    await written;
    expect(await activityOf(host, session)).toBe(0);
    await locker.rollbackTransaction();
    await locker.release();
    await host.close();
    const reader = await new DataSource(database.options).initialize();
    const [row] = await reader.query('SELECT last_activity - created_at AS since FROM auth_sessions');
    expect(Number(row.since)).toBe(10 * MINUTE);
    await reader.destroy();
    await database.drop();
  });

  it('does not delay that of other sessions', async () => {
    const database = await createDatabase(name);
    const host = await Host.start({ database });
    const [first, second] = [await host.login(), await host.login('bob')];
    host.clock.advance(2 * MINUTE);
    const locker = host.dataSource.createQueryRunner();
    await locker.startTransaction();
    await locker.query(`SELECT id FROM auth_sessions WHERE id = '${first.session_id}' FOR UPDATE`);
    await host.get('/me', first.access_token).expect(200);
    await host.get('/me', second.access_token).expect(200);
    await becomes(2 * MINUTE, () => activityOf(host, second.session_id));
    expect(await activityOf(host, first.session_id)).toBe(0);
    await locker.rollbackTransaction();
    await locker.release();
    await host.get('/me', first.access_token).expect(200);
    await becomes(2 * MINUTE, () => activityOf(host, first.session_id));
    await host.close();
    await database.drop();
  });
});
